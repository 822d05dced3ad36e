import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

/** Builds the pages, if their sources have changed: for tests that are run by themselves. */
export async function builtPages(): Promise<void> {
  await promisify(execFile)(join(import.meta.dirname, "../../script/build-pages"));
}
