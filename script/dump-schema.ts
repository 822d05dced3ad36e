import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../src/store/database.ts";
import { startEmbeddedPostgres } from "../src/store/embedded/embedded.ts";
import { migrate } from "../src/store/migrate.ts";
import { dumpSchema } from "../src/store/schema-dump.ts";

// Writes src/store/schema.sql from a database that has just been migrated, so that a change shows in the
// diff.
const folder = await mkdtemp(join(tmpdir(), "tollgate-schema-"));
await chmod(folder, 0o755);
const postgres = await startEmbeddedPostgres(folder);
const database = openDatabase({
  url: postgres.url,
  prepared: true,
  maxConnections: 2,
  answerTimeoutMs: 30_000,
});
try {
  await migrate(database);
  await writeFile(new URL("../src/store/schema.sql", import.meta.url), await dumpSchema(database));
} finally {
  await database.close();
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
}
