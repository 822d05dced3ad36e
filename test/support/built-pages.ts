import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

/** Builds the pages if their sources have changed: script/test has built them once for the whole run. */
export async function builtPages(): Promise<void> {
  if (process.env.PAGES_BUILT === "1") return;
  await promisify(execFile)(join(import.meta.dirname, "../../script/build-pages"));
}
