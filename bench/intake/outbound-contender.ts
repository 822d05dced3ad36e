import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { SUBSCRIPTION_EVENT_TYPES } from "../../src/domain/outbound/outbound-event.ts";
import { newEndpointSecret } from "../../src/outbound/sign.ts";
import { openDatabase } from "../../src/store/database.ts";
import { insertEndpoint } from "../../src/store/outbound/event-endpoints.ts";
import { note } from "../shared/note.ts";
import { query } from "../shared/postgres.ts";
import type { Contender } from "./contender.ts";

type Start = (options: {
  prepare(databaseUrl: string): Promise<void>;
  variables: Record<string, string>;
}) => Promise<Contender & { databaseUrl: string }>;

/** The same server with one endpoint for its events, which accepts each at once. */
export async function startWithEndpoint(start: Start): Promise<Contender> {
  const receiver = createServer((request, response) => {
    request.resume().on("end", () => response.writeHead(204).end());
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  const { port } = receiver.address() as AddressInfo;
  const contender = await start({
    prepare: (databaseUrl) => createEndpoint(databaseUrl, `http://127.0.0.1:${port}/`),
    variables: { OUTBOUND_ALLOW: "127.0.0.0/8" },
  });
  return {
    ...contender,
    round: async (seconds) => {
      const round = await contender.round(seconds);
      await reportBacklog(contender);
      // What still waits must not burden the others' turns. Locked, as the server would: it is still sending.
      await query(
        contender.databaseUrl,
        "select from event_endpoint for update; delete from outbound_delivery; delete from outbound_event",
      );
      return round;
    },
    stop: async () => {
      await contender.stop();
      receiver.closeAllConnections();
      receiver.close();
    },
  };
}

/** Sending yields to the intake: how much of it a round contains belongs to its figures. */
async function reportBacklog({ name, databaseUrl }: { name: string; databaseUrl: string }): Promise<void> {
  const [row] = await query<{ sent: number; created: number }>(
    databaseUrl,
    "select (count(*) filter (where status = 'delivered'))::int as sent, count(*)::int as created from outbound_delivery",
  );
  note(`${name}: ${row?.sent ?? 0} of ${row?.created ?? 0} outbound events sent at the end of the round`);
}

async function createEndpoint(databaseUrl: string, url: string): Promise<void> {
  const database = openDatabase({
    url: databaseUrl,
    prepared: false,
    maxConnections: 1,
    answerTimeoutMs: 60_000,
  });
  await insertEndpoint(database, {
    url,
    types: SUBSCRIPTION_EVENT_TYPES,
    description: null,
    createdBy: null,
    secret: newEndpointSecret(),
  }).finally(() => database.close());
}
