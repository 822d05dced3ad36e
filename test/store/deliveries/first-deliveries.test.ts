import { expect, it } from "vitest";
import type { Slot } from "../../../src/domain/slot.ts";
import { keyOf } from "../../../src/store/deliveries/delivery-key.ts";
import { type FirstDelivery, insertFirstDeliveries } from "../../../src/store/deliveries/first-deliveries.ts";
import { testDatabase } from "../../support/test-database.ts";

const test = testDatabase(0);

it("inserts rows sorted by provider and event, and keeps the order of the group in the times of their changes", async () => {
  const group = [
    firstDelivery("provider-b", "evt_1"),
    firstDelivery("provider-a", "evt_3"),
    firstDelivery("provider-a", "evt_1"),
    firstDelivery("provider-b", "evt_0"),
    firstDelivery("provider-a", "evt_2"),
  ];
  await insertFirstDeliveries(test.database, group);
  const stored = "select provider || ' ' || event_id as key from webhook_delivery";
  expect(await keys(`${stored} order by id`)).toEqual([
    "provider-a evt_1",
    "provider-a evt_2",
    "provider-a evt_3",
    "provider-b evt_0",
    "provider-b evt_1",
  ]);
  expect(await keys(`${stored} order by first_changed_at`)).toEqual(group.map(({ key }) => key));
});

function firstDelivery(provider: Slot, eventId: string): FirstDelivery {
  return {
    delivery: {
      provider,
      eventId,
      eventType: "customer.subscription.updated",
      format: "stripe",
      occurredAtMicros: null,
      source: "delivery",
      payload: Buffer.from("{}"),
    },
    key: keyOf({ provider, eventId }),
    durationMs: 1,
    failed: null,
    changed: {
      subscriptionId: "0198c0de-0000-7000-8000-000000000000",
      changes: { seats: [5, 6] },
    },
    isRedacted: false,
  };
}

async function keys(query: string): Promise<string[]> {
  return (await test.rows<{ key: string }>(query)).map(({ key }) => key);
}
