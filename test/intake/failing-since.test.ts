import { expect, it } from "vitest";
import type { SubscriptionStatus } from "../../src/domain/subscriptions/subscription-status.ts";
import { fixtureDelivery } from "../fixtures/fixture.ts";
import { freshRuntime } from "../support/fresh-runtime.ts";
import { SECRETS } from "../support/variables.ts";

const { test, runtime } = freshRuntime({ users: 2, variables: { PROVIDER_A_ADAPTER: "stripe" } });

/** @param periodEnd half an hour before this day */
type Report = [status: SubscriptionStatus, day: number, periodEnd?: number];

let count = 0;

async function receive(subscriptionId: string, [status, day, periodEnd]: Report): Promise<void> {
  count += 1;
  const { rawBody, headers } = fixtureDelivery("stripe", "customer.subscription.updated", {
    secret: SECRETS["provider-a"],
    nowSeconds: Math.floor(Date.now() / 1000),
    userId: "user_1",
    planId: "pro",
    subscriptionId,
    eventId: `evt_${count}`,
    status,
    occurredAt: new Date(Date.UTC(2026, 0, day)),
    ...(periodEnd ? { currentPeriodEnd: new Date(Date.UTC(2026, 0, periodEnd) - 1_800_000) } : {}),
  });
  const result = await runtime.intake.receive("provider-a", { rawBody, header: (name) => headers[name] });
  expect(result).toMatchObject({ outcome: "applied" });
}

async function failingSince(subscriptionId: string): Promise<string | null> {
  const [row] = await test.rows<{ day: string | null }>(
    `select case when past_due_since > '2026-02-01' then 'now' else to_char(past_due_since at time zone 'utc', 'MM-DD') end
       as day from subscription where provider_subscription_id = $1`,
    [subscriptionId],
  );
  return row?.day ?? null;
}

it.each<[string, string | null, { known: Report[]; arriving: Report[] }]>([
  [
    "it was paid, and the next renewal failed",
    "01-30",
    {
      known: [
        ["active", 1],
        ["past_due", 2],
      ],
      arriving: [
        ["active", 29],
        ["past_due", 30],
      ],
    },
  ],
  [
    "it failed, and changed since",
    "01-02",
    {
      known: [["active", 1]],
      arriving: [
        ["past_due", 2],
        ["past_due", 9],
      ],
    },
  ],
  [
    "it is not known yet",
    "01-02",
    {
      known: [],
      arriving: [
        ["past_due", 2],
        ["past_due", 9],
      ],
    },
  ],
  [
    "a late event contradicts it",
    "01-10",
    {
      known: [
        ["active", 1],
        ["past_due", 10],
      ],
      arriving: [
        ["active", 9],
        ["past_due", 20],
      ],
    },
  ],
  [
    "a late event ends it by mistake",
    "01-02",
    {
      known: [
        ["active", 1],
        ["past_due", 2],
      ],
      arriving: [
        ["past_due", 9],
        ["active", 8],
      ],
    },
  ],
  [
    "a late event wrongly ends one that is not known yet",
    "01-09",
    {
      known: [],
      arriving: [
        ["past_due", 9],
        ["active", 8],
      ],
    },
  ],
  [
    "it was paid, and the next renewal failed when it was due",
    "01-29",
    {
      known: [
        ["active", 1, 2],
        ["past_due", 2, 2],
      ],
      arriving: [
        ["active", 20, 30],
        ["past_due", 30, 30],
      ],
    },
  ],
  [
    "it was paid, and a late event says that it fails",
    "now",
    {
      known: [
        ["active", 1],
        ["past_due", 2],
      ],
      arriving: [
        ["active", 10],
        ["past_due", 9],
      ],
    },
  ],
  [
    "it was paid in the end",
    null,
    {
      known: [["past_due", 2]],
      arriving: [
        ["active", 9],
        ["past_due", 10],
        ["active", 11],
      ],
    },
  ],
])(
  "starts the grace period at the failure, whether its events are stored at once or not: %s",
  async (name, day, { known, arriving }) => {
    const [singly, together] = [`${name}, singly`, `${name}, together`];
    for (const report of [...known, ...arriving]) await receive(singly, report);
    for (const report of known) await receive(together, report);
    await Promise.all(arriving.map((report) => receive(together, report)));
    expect([await failingSince(singly), await failingSince(together)]).toEqual([day, day]);
  },
);

it("keeps the start to the microsecond: each reminder is sent once for it", async () => {
  const since = "2026-01-02 03:04:05.678901+00";
  await receive("exact", ["past_due", 2]);
  await test.rows(
    "update subscription set past_due_since = $1::timestamptz where provider_subscription_id = 'exact'",
    [since],
  );
  await receive("exact", ["past_due", 9]);
  expect(
    await test.rows(
      "select past_due_since = $1::timestamptz as kept from subscription where provider_subscription_id = 'exact'",
      [since],
    ),
  ).toEqual([{ kept: true }]);
});
