import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cleanedUp } from "./cleanup.ts";

/**
 * A new folder, which is removed after the test file. Readable for others too: started by root, PostgreSQL
 * runs as another user.
 */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-test-"));
  cleanedUp(() => rm(folder, { recursive: true, force: true }));
  await chmod(folder, 0o755);
  return folder;
}
