import { statfs } from "node:fs/promises";
import { resolve } from "node:path";
import { type Finding, warning } from "./finding.ts";

/** What PostgreSQL's write-ahead log alone may take: its max_wal_size. */
const MIN_FREE_BYTES = 1024 ** 3;

/** Of the embedded database; one of the operator's own is on another machine. `null`: there is room, or it is unknown. */
export async function checkDisk(dataDir: string, minFreeBytes = MIN_FREE_BYTES): Promise<Finding | null> {
  const found = await statfs(dataDir).catch(() => null);
  // Some shared folders report no size.
  if (found === null || found.blocks === 0) return null;
  const freeBytes = found.bavail * found.bsize;
  if (freeBytes >= minFreeBytes) return null;
  const freeMegabytes = Math.floor(freeBytes / 1_000_000);
  return warning(
    "disk",
    `${freeMegabytes} MB are free for the database: when none is left, webhooks are answered 503`,
    `Free space on the disk of ${resolve(dataDir)}, or stop the server and move that folder to a larger one.`,
  );
}
