import { expect, it } from "vitest";
import { acceptsWrites } from "../../src/store/accepts-writes.ts";
import { openDatabase } from "../../src/store/database.ts";
import { emptyDatabase } from "../support/database.ts";

it("notices that a database takes writes again, which a connection from before would not", async () => {
  const { url, drop } = await emptyDatabase();
  const database = openDatabase({ url, prepared: true, maxConnections: 1, answerTimeoutMs: 30_000 });
  const connection = await database.connection();
  // As one that was opened while the host had set a full database read-only.
  await connection.script("set default_transaction_read_only = on");
  connection.release({ healthy: true });
  expect(await acceptsWrites(database)).toBe(false);
  expect(await acceptsWrites(database)).toBe(true);
  await database.close();
  await drop();
});
