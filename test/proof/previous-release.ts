import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { cleanedUp } from "../support/cleanup.ts";

const PROJECT = resolve(import.meta.dirname, "../..");

/** Every migration of the previous release is numbered 0001 to 0009. */
const LATER_MIGRATIONS = "src/store/migrations/00[1-9]*.sql";

/**
 * Checks out the newest commit without this release's migrations into a temporary work tree, with the packages of its own
 * lock file. Removed after the test file.
 */
export async function checkOutPreviousRelease(): Promise<{ folder: string; commit: string }> {
  const commit = previousCommit();
  const parent = await mkdtemp(join(tmpdir(), "tollgate-previous-"));
  const folder = join(parent, "tollgate");
  cleanedUp(async () => {
    git("worktree", "remove", "--force", folder);
    await rm(parent, { recursive: true, force: true });
  });
  git("worktree", "add", "--detach", folder, commit);
  await providePackages(folder);
  return { folder, commit };
}

/** @throws Error when the history does not go back that far */
function previousCommit(): string {
  const shallow = "The previous release is not in this clone's history: git fetch --unshallow";
  const added = git("log", "--reverse", "--diff-filter=A", "--format=%H", "--", LATER_MIGRATIONS);
  const [first] = added.split("\n");
  if (!first) throw new Error(shallow);
  // A shallow clone adds all files in its oldest commit, which has no parent.
  const [, parent] = git("rev-list", "--parents", "-1", first).split(" ");
  if (!parent) throw new Error(shallow);
  return parent;
}

async function providePackages(folder: string): Promise<void> {
  const lock = (root: string) => readFile(join(root, "package-lock.json"), "utf8");
  if ((await lock(folder)) === (await lock(PROJECT))) {
    await symlink(join(PROJECT, "node_modules"), join(folder, "node_modules"));
    return;
  }
  // Its server runs on this Node and on the PostgreSQL of the tests: nothing has to be downloaded by scripts.
  const options = [
    "--no-save",
    "--ignore-scripts",
    "--omit=dev",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
  ];
  execFileSync("npm", ["install", ...options], { cwd: folder, stdio: "inherit" });
}

function git(...args: string[]): string {
  return execFileSync("git", args, { cwd: PROJECT, encoding: "utf8" }).trim();
}
