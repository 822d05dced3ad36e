import plans from "../../plans.config.ts";
import { outboundAllow } from "../../src/outbound/allowed-targets.ts";
import { createDispatcher, type Dispatcher, type DispatcherOptions } from "../../src/outbound/dispatcher.ts";
import { relayEvents } from "../../src/outbound/relay.ts";
import { newEndpointSecret } from "../../src/outbound/sign.ts";
import { insertEndpoint } from "../../src/store/event-endpoints.ts";
import type { TestDatabase } from "../support/database.ts";

const LOOPBACK = outboundAllow({ hosts: [], ranges: ["127.0.0.0/8"] });

/** Writes an event as a committed transaction would have. The subject is in the data, as `subscription.id`. */
export async function writeEvent(test: TestDatabase, subject: string, seats: number): Promise<void> {
  await test.rows(
    "insert into outbound_event (type, subject, data) values ('entitlements.changed', $1, $2::text::json)",
    [subject, JSON.stringify({ userId: null, subscription: { id: subject, seats } })],
  );
}

export async function addEndpoint(test: TestDatabase, url: string): Promise<{ id: string; secret: string }> {
  const secret = newEndpointSecret();
  const endpoint = { url, types: ["entitlements.changed"], description: null, secret, createdBy: null };
  return { id: (await insertEndpoint(test.database, endpoint)).id, secret };
}

export function dispatcherOn(test: TestDatabase, more: Partial<DispatcherOptions> = {}): Dispatcher {
  return createDispatcher({
    database: test.database,
    allow: LOOPBACK,
    hooks: new Map(),
    log: { warn() {} },
    now: Date.now,
    ...more,
  });
}

/** Relays and sends until nothing is due. */
export async function sendDue(test: TestDatabase, dispatcher: Dispatcher): Promise<void> {
  await relayEvents({ database: test.database, plans });
  while ((await dispatcher.dispatch()) > 0) await dispatcher.idle();
}

/** Makes what waits for its next attempt due now. */
export async function skipBackOff(test: TestDatabase): Promise<void> {
  await test.rows(
    "update outbound_delivery set next_attempt_at = now() where status = 'pending' and next_attempt_at is not null",
  );
}
