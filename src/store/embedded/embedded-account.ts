import { execFile } from "node:child_process";
import { chmod, chown, stat } from "node:fs/promises";
import { userInfo } from "node:os";
import { promisify } from "node:util";

const run = promisify(execFile);

/** The user to run PostgreSQL as; `null`: the current one. */
export type Account = { uid: number; gid: number } | null;

/** Can only be fixed by the operator; the message says how. */
export class EmbeddedPostgresFailed extends Error {
  override name = "EmbeddedPostgresFailed";
}

/** The owner of a cluster that exists, when we are root: it may be another user's, who starts it too. */
export async function clusterAccount(cluster: string): Promise<Account> {
  if (userInfo().uid !== 0) return null;
  const owner = await stat(cluster).catch(() => null);
  return owner && owner.uid !== 0 ? { uid: owner.uid, gid: owner.gid } : unprivilegedAccount();
}

/** PostgreSQL refuses to run as root: it then runs as `postgres`, or as `nobody` without such a user. */
export async function unprivilegedAccount(): Promise<Account> {
  if (userInfo().uid !== 0) return null;
  for (const name of ["postgres", "nobody"]) {
    try {
      const [uid, gid] = await Promise.all([run("id", ["-u", name]), run("id", ["-g", name])]);
      return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
    } catch {
      // Does not exist on this machine; try the next one.
    }
  }
  throw new EmbeddedPostgresFailed(
    "PostgreSQL does not run as root, and there is no user postgres or nobody to run it as: start Tollgate as another user, or set DATABASE_URL",
  );
}

/**
 * Lets PostgreSQL's user enter root's data folder, which `mktemp -d` and a strict umask close to others. It
 * cannot list the folder, and files in it stay as private as they are.
 */
export async function letEnter(dataDir: string, account: { gid: number }): Promise<void> {
  const { uid, gid, mode } = await stat(dataDir);
  const isOpen = (mode & 0o001) !== 0;
  const isOurs = uid === 0 && (gid === 0 || gid === account.gid);
  if (isOpen || !isOurs) return;
  await chown(dataDir, uid, account.gid);
  await chmod(dataDir, (mode & 0o7777) | 0o010);
}

/** Any parent folder that only root may enter hides the binaries or the data from PostgreSQL. */
export async function checkAccess(
  home: string,
  program: string,
  account: { uid: number; gid: number },
): Promise<void> {
  try {
    await run(program, ["--version"], account);
    await run("test", ["-w", home], account);
  } catch {
    throw new EmbeddedPostgresFailed(
      `started by root, PostgreSQL runs as another user (uid ${account.uid}), who must be able to reach ${program} and ${home}: run "chmod o+x" on the folders above them that are closed to others, start Tollgate as an ordinary user, or set DATABASE_URL`,
    );
  }
}

/** The line of a failed command that says why: PostgreSQL's error, else the last one. */
export function reasonOfFailure(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message: string };
  const text = (stderr || message).trim();
  return errorIn(text) ?? text.split("\n").at(-1) ?? "";
}

/** The text's first error of PostgreSQL or of one of its programs. */
export function errorIn(text: string): string | null {
  return /\b(?:PANIC|FATAL|ERROR|error): +(.+)/.exec(text)?.[1] ?? null;
}
