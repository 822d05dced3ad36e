import { randomBytes } from "node:crypto";
import { link, readFile, rename, rm } from "node:fs/promises";

/** Removes a file unless it has been replaced: of several processes that try, one succeeds. */
export async function removeUnchanged(file: string, text: string): Promise<boolean> {
  if ((await readFile(file, "utf8").catch(nullIfMissing)) !== text) return false;
  // Moved before it is compared again: what another process writes in between must not be removed.
  const aside = `${file}.${randomBytes(6).toString("hex")}`;
  if ((await rename(file, aside).catch(nullIfMissing)) === null) return false;
  const isUnchanged = (await readFile(aside, "utf8")) === text;
  if (!isUnchanged) await linkIfMissing(aside, file);
  await rm(aside);
  return isUnchanged;
}

/** Gives a complete file its name. @returns false: there is one of this name already */
export async function linkIfMissing(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

export function nullIfMissing(error: NodeJS.ErrnoException): null {
  if (error.code === "ENOENT") return null;
  throw error;
}
