import { appendFile, chmod } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startEmbeddedPostgres } from "../../../src/store/embedded/embedded.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

it.each([
  [
    "its folder was copied without its permissions",
    (cluster: string) => chmod(cluster, 0o755),
    /^data directory ".+" has invalid permissions$/,
  ],
  [
    "its settings cannot be read",
    (cluster: string) => appendFile(join(cluster, "postgresql.conf"), "nonsense = 1\n"),
    /^configuration file ".+" contains errors$/,
  ],
])("says why PostgreSQL does not start: %s", async (_, damage, reason) => {
  const dataDir = await temporaryFolder();
  await (await startEmbeddedPostgres(dataDir)).stop();
  const home = join(dataDir, "postgres");
  // An error of an earlier start is not the reason.
  await appendFile(join(home, "log"), "2026-11-01 12:00:00 UTC [1] FATAL:  an earlier error\n");
  await damage(join(home, "cluster"));
  const { message } = await startEmbeddedPostgres(dataDir).then(
    () => ({ message: "it started" }),
    (error: Error) => error,
  );
  const [, reported] =
    /^DATA_DIR: starting the database in .+? failed: (.*) \(see .+\/log\)$/.exec(message) ?? [];
  expect(reported ?? message).toMatch(reason);
});
