import { randomBytes } from "node:crypto";
import { chown, open, readFile, rm, stat, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Account, EmbeddedPostgresFailed } from "./embedded-account.ts";
import { ownIdentity } from "./embedded-identity.ts";
import type { PreparedCluster } from "./embedded-prepare.ts";
import { pidFileOf } from "./postmaster.ts";
import { listensOnSocket, removeSocketLocks } from "./postmaster-socket.ts";
import { linkIfMissing, nullIfMissing, removeUnchanged } from "./remove-unchanged.ts";
import { repeatUntilEnded } from "./repeat-until-ended.ts";

const HEARTBEAT_EVERY_MS = 2_000;
const STALE_AFTER_MS = 15_000;
const POLL_EVERY_MS = 250;

type ClaimableCluster = Pick<PreparedCluster, "home" | "cluster" | "account">;

type Owner = { text: string; writtenMs: number };

/**
 * Reserves the cluster for this container or machine: a pid means nothing to another one, so that a second
 * PostgreSQL would be started on the files of the first. Waits while the owner may have ended.
 * @throws EmbeddedPostgresFailed while another container or machine uses it
 */
export async function claimCluster({ home, cluster, account }: ClaimableCluster): Promise<void> {
  const file = ownerFile(home);
  const identity = await ownIdentity();
  if ((await refresh(file, identity)) === "ours") return;
  const token = randomBytes(6).toString("hex");
  const draft = `${file}.${token}`;
  const pidFile = pidFileOf(cluster);
  const stalePid = await readFile(pidFile, "utf8").catch(nullIfMissing);
  let isTakenOver = false;
  let seen = { text: "", writtenMs: 0, atMs: 0 };
  try {
    for (;;) {
      const owner = await refresh(file, identity);
      if (owner === "ours") return;
      const nowMs = await fileSystemNow(draft, `${identity}\n${hostname()}\n${token}\n`, account);
      if (owner === null) {
        if (!(await linkIfMissing(draft, file))) continue;
        // A pid of another container or of before a reboot says nothing about processes here.
        if (isTakenOver && stalePid !== null) await removeUnchanged(pidFile, stalePid);
        if (isTakenOver) await removeSocketLocks(cluster);
        return;
      }
      if (await listensOnSocket(cluster)) throw inUse(home, owner);
      const isSame = seen.atMs > 0 && owner.text === seen.text;
      if (isSame && owner.writtenMs !== seen.writtenMs) throw inUse(home, owner);
      if (!isSame) seen = { ...owner, atMs: performance.now() };
      const silentMs = Math.max(nowMs - owner.writtenMs, performance.now() - seen.atMs);
      if (silentMs >= STALE_AFTER_MS) isTakenOver = await removeUnchanged(file, owner.text);
      else await sleep(POLL_EVERY_MS);
    }
  } finally {
    await rm(draft, { force: true });
  }
}

/** Repeats the claim until it is ended, so that others see that the cluster is in use. */
export function keepClaim(claimed: ClaimableCluster): { end(): Promise<void> } {
  // A claim that another container took over meanwhile is refused by `ensureRunning`.
  return repeatUntilEnded(HEARTBEAT_EVERY_MS, () => claimCluster(claimed));
}

/** Lets another container use the cluster at once. */
export async function releaseCluster(home: string): Promise<void> {
  const text = await readFile(ownerFile(home), "utf8").catch(() => "");
  if (identityIn(text) === (await ownIdentity())) await removeUnchanged(ownerFile(home), text);
}

function ownerFile(home: string): string {
  return join(home, "owner");
}

function identityIn(text: string): string {
  return text.split("\n")[0] ?? "";
}

/** Writes the file again when it is ours. Its own time is compared, which another machine's clock cannot falsify. */
async function refresh(file: string, identity: string): Promise<"ours" | Owner | null> {
  const handle = await open(file, "r+").catch(nullIfMissing);
  if (handle === null) return null;
  try {
    const text = await handle.readFile("utf8");
    if (identityIn(text) !== identity) return { text, writtenMs: (await handle.stat()).mtimeMs };
    await handle.write(text, 0);
    return "ours";
  } finally {
    await handle.close();
  }
}

async function fileSystemNow(draft: string, text: string, account: Account): Promise<number> {
  await writeFile(draft, text);
  if (account) await chown(draft, account.uid, account.gid);
  return (await stat(draft)).mtimeMs;
}

function inUse(home: string, { text }: Owner): EmbeddedPostgresFailed {
  const host = text.split("\n")[1];
  return new EmbeddedPostgresFailed(
    `DATA_DIR: the database in ${home} is in use by another container or machine (host name ${host}): run the command there, or stop that one first`,
  );
}
