import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Database, openDatabase } from "../../../src/store/database.ts";
import { cleanedUp } from "../../support/cleanup.ts";
import { emptyDatabase, type TestDatabase } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";

let test: TestDatabase;
beforeAll(async () => {
  test = await emptyDatabase();
});
afterAll(() => test.drop());

const NOTHING_LISTENS = "127.0.0.1:1";
const READ = { name: "one", text: "select 1 as one" };
const WRITE = { name: "no_update", text: "update pg_class set relname = '' where false" };

/** PostgreSQL as one server among several, which says that it is the primary or a standby. */
async function startNode(initial: "primary" | "standby") {
  let role = initial;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(new URL(test.url).port), "127.0.0.1");
    client.pipe(upstream);
    upstream.on("data", (bytes: Buffer) => client.write(role === "standby" ? asStandby(bytes) : bytes));
    upstream.on("close", () => client.destroy());
    client.on("close", () => upstream.destroy());
    for (const socket of [client, upstream]) socket.on("error", () => {});
    sockets.add(client);
    client.on("close", () => sockets.delete(client));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanedUp(async () => server.close());
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => sockets.size,
    /** Its sessions end, as with the process. */
    become: (changed: typeof initial) => {
      role = changed;
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Of the parameters that PostgreSQL reports on a new connection, as long as before. */
function asStandby(bytes: Buffer): Buffer {
  const text = bytes.toString("latin1").replace("in_hot_standby\0off\0", "in_hot_standby\0on\0\0");
  return Buffer.from(text, "latin1");
}

async function onServers(
  addresses: readonly string[],
  work: (database: Database) => Promise<void>,
  parameters = "",
): Promise<void> {
  const { username, password, pathname } = new URL(test.url);
  const url = `postgres://${username}:${password}@${addresses.join(",")}${pathname}?sslmode=disable${parameters}`;
  const database = openDatabase({ url, prepared: true, maxConnections: 3, answerTimeoutMs: 30_000 });
  try {
    await work(database);
  } finally {
    await database.close();
  }
}

it.each<["reads" | "writes", object]>([
  ["reads", { ...READ, runsAlone: true }],
  ["writes", WRITE],
])("connects to the primary among several servers: %s", async (_, statement) => {
  const [standby, primary] = [await startNode("standby"), await startNode("primary")];
  await onServers([NOTHING_LISTENS, standby.address, primary.address], async (database) => {
    await Promise.all([1, 2, 3].map(() => database.run(statement as typeof READ)));
    // At most one each: which ones share depends on when they try the next server.
    expect(primary.connections()).toBeGreaterThan(0);
    await eventually(async () => standby.connections(), 0);
  });
});

it("follows the primary to another server", async () => {
  const [first, second] = [await startNode("primary"), await startNode("standby")];
  await onServers([first.address, second.address], async (database) => {
    await database.run(READ);
    expect([first.connections(), second.connections()]).toEqual([1, 0]);
    second.become("primary");
    first.become("standby");
    await eventually(() => database.run(READ).catch(() => "not yet"), [{ one: 1 }]);
    expect(second.connections()).toBe(1);
    await eventually(async () => first.connections(), 0);
  });
});

it("refuses a single server that is a standby where its URL asks for a primary", async () => {
  const { address } = await startNode("standby");
  await onServers([address], async (database) => {
    expect(await database.run(READ)).toEqual([{ one: 1 }]);
  });
  const refused = async (database: Database) => {
    const unavailable = { name: "DatabaseUnavailable", message: "the database server is a standby" };
    await expect(database.run(READ)).rejects.toMatchObject(unavailable);
  };
  await onServers([address], refused, "&target_session_attrs=read-write");
});

it("fails once each of the servers has failed", async () => {
  const standby = await startNode("standby");
  await onServers([standby.address, NOTHING_LISTENS], async (database) => {
    await expect(database.run(READ)).rejects.toMatchObject({ name: "DatabaseUnavailable" });
    standby.become("primary");
    expect(await database.run(READ)).toEqual([{ one: 1 }]);
  });
});
