import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmbeddedPostgres } from "../../src/store/embedded/embedded.ts";
import { createTemplate } from "./database.ts";

/** One real PostgreSQL for the whole run. */
export default async function setup(): Promise<() => Promise<void>> {
  // script/mutate and script/steady start one for all their runs.
  return process.env.TEST_POSTGRES_URL ? async () => {} : startTestPostgres();
}

/**
 * A real PostgreSQL for the tests of this process and of those that it starts, which find it by
 * `TEST_POSTGRES_URL`. Every test file has a database of its own in it, copied from one that is migrated once.
 * @returns stops and removes it
 */
export async function startTestPostgres(
  options: { maxConnections?: number } = {},
): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-test-"));
  // Started by root, PostgreSQL runs as another user, who needs access to the folder.
  await chmod(folder, 0o755);
  const stopGuard = guard(folder);
  const postgres = await startEmbeddedPostgres(folder, options);
  await createTemplate(postgres.adminUrl);
  process.env.TEST_POSTGRES_URL = postgres.adminUrl;
  return async () => {
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
    await stopGuard();
  };
}

/** Vitest ends without its teardown when it is interrupted, and PostgreSQL would go on. */
function guard(folder: string): () => Promise<void> {
  const program = join(import.meta.dirname, "end-with-parent.ts");
  const guard = spawn(process.execPath, [program], { detached: true, stdio: ["pipe", "ignore", "ignore"] });
  // From the start: it may end before it is told to.
  const ended = once(guard, "exit");
  guard.stdin.write(folder);
  guard.unref();
  return async () => {
    guard.ref();
    guard.kill();
    await ended;
  };
}
