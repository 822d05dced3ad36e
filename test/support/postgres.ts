import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmbeddedPostgres } from "../../src/store/embedded.ts";
import { createTemplate } from "./database.ts";

/**
 * One real PostgreSQL for the whole run; every test file has a database of its own in it, copied from one
 * that is migrated once.
 */
export default async function setup(): Promise<() => Promise<void>> {
  // script/mutate starts one for all its runs.
  if (process.env.TEST_POSTGRES_URL) return async () => {};
  const folder = await mkdtemp(join(tmpdir(), "tollgate-test-"));
  // Started by root, PostgreSQL runs as another user, who needs access to the folder.
  await chmod(folder, 0o755);
  const postgres = await startEmbeddedPostgres(folder);
  await createTemplate(postgres.adminUrl);
  process.env.TEST_POSTGRES_URL = postgres.adminUrl;
  return async () => {
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  };
}
