import { expect, it } from "vitest";
import plans from "../../plans.config.ts";
import { eventStream } from "../../src/api/event-stream.ts";
import type { Caller } from "../../src/domain/callers/caller.ts";
import { toNodeRequest } from "../../src/http/to-node-request.ts";
import { createLog } from "../../src/observability/log.ts";
import { createEventFeed } from "../../src/outbound/event-feed.ts";
import { openEventStream } from "../support/event-stream.ts";
import { eventually } from "../support/eventually.ts";
import { testApp, testCallers, testLimits } from "../support/guarded-app.ts";
import { listen } from "../support/http.ts";
import { testDatabase } from "../support/test-database.ts";

const test = testDatabase(0);
const log = createLog("silent");

const CALLER: Caller = {
  kind: "service",
  keyId: "key",
  permissions: ["events:read"],
  limit: { limit: 100, windowSeconds: 60 },
  address: "192.0.2.1",
};

function eventApp(everyMs: number) {
  const { database } = test;
  const eventFeed = createEventFeed({ database, log, everyMs });
  const limits = testLimits();
  const auth = { ...testCallers.auth, identify: async () => ({ caller: CALLER, setCookies: [] }) };
  const deps = { database, log, limits, eventFeed, plans, observe: null };
  const app = testApp("/api", eventStream(deps as never, { ...testCallers, auth, limits }));
  return { app, eventFeed };
}

it("no longer asks the database for events once its reader has left", async () => {
  const { app, eventFeed } = eventApp(10);
  const server = await listen(app);
  try {
    const stream = await openEventStream(`${server.url}/api/events/stream`, "key");
    await eventually(async () => eventFeed.isPolling(), true);
    await stream.close();
    await eventually(async () => eventFeed.isPolling(), false);
    expect(stream.events).toEqual([]);
  } finally {
    eventFeed.stop();
    await server.close();
  }
});

it("keeps no stream open for clients that have left before it begins", async () => {
  const { app, eventFeed } = eventApp(1_000);
  const open = (signal: AbortSignal) => {
    const request = new Request("https://app.example.com/api/events/stream", { signal });
    return app.fetch(request, { incoming: toNodeRequest(request, "192.0.2.1"), outgoing: {} } as never);
  };
  for (let n = 0; n < 5; n += 1) await open(AbortSignal.abort());
  const reading = new AbortController();
  const { status } = await open(reading.signal);
  reading.abort();
  eventFeed.stop();
  expect(status).toBe(200);
});
