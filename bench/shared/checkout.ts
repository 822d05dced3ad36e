import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import { BrokenMeasurement } from "./broken.ts";
import { note } from "./note.ts";

const ROOT = new URL("../..", import.meta.url).pathname;

/** The project as it was, to be measured beside the current one. */
export type Checkout = { root: string; remove(): Promise<void> };

/** @param reference a commit, or a folder with a checkout and its packages */
export async function checkOut(reference: string): Promise<Checkout> {
  const folder = resolve(reference);
  if (existsSync(join(folder, "src/server.ts"))) return { root: `${folder}/`, remove: async () => {} };
  const parent = await mkdtemp("/var/tmp/tollgate-bench-commit-");
  const root = join(parent, "tollgate");
  const remove = () => rm(parent, { recursive: true, force: true });
  try {
    // A clone, not a work tree: nothing is left in the repository when the bench is killed.
    run("git", ["clone", "--quiet", "--shared", "--no-checkout", ROOT, root]);
    run("git", ["-C", root, "checkout", "--quiet", "--detach", commitOf(reference)]);
    await providePackages(root);
    return { root: `${root}/`, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

function commitOf(reference: string): string {
  return run("git", ["-C", ROOT, "rev-parse", "--verify", "--quiet", `${reference}^{commit}`]);
}

async function providePackages(root: string): Promise<void> {
  const lockOf = (folder: string) => readFile(join(folder, "package-lock.json"), "utf8");
  if ((await lockOf(root)) === (await lockOf(ROOT))) {
    await symlink(join(ROOT, "node_modules"), join(root, "node_modules"));
    return;
  }
  note("installing the packages of the other commit");
  const quiet = ["--no-audit", "--no-fund", "--loglevel=error"];
  run("npm", ["install", "--prefix", root, "--no-save", "--ignore-scripts", "--omit=dev", ...quiet]);
}

function run(program: string, args: readonly string[]): string {
  try {
    return execFileSync(program, args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }).trim();
  } catch (error) {
    throw new BrokenMeasurement(`${program} ${args.join(" ")}: ${(error as Error).message}`);
  }
}
