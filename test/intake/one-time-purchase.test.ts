import { expect, it } from "vitest";
import { loadFixture, signedDelivery } from "../fixtures/fixture.ts";
import type { FixtureOverrides } from "../fixtures/overrides.ts";
import { freshRuntime } from "../support/fresh-runtime.ts";
import { SECRETS } from "../support/variables.ts";

const { test, runtime } = freshRuntime({ users: 2 });

const IDS = { planId: "pro", customerId: "cus_1", priceId: "price_pro_monthly" } as const;
let events = 0;

async function happens(name: string, overrides: FixtureOverrides, session: object = {}): Promise<void> {
  events += 1;
  const { body } = loadFixture("stripe", name, { eventId: `evt_${events}`, ...IDS, ...overrides });
  Object.assign((body.data as { object: object }).object, session);
  const signing = { secret: SECRETS["provider-a"], nowSeconds: Math.floor(Date.now() / 1000) };
  const { rawBody, headers } = signedDelivery("stripe", body, signing);
  const request = { rawBody, header: (header: string) => headers[header] };
  expect((await runtime.intake.receive("provider-a", request)).outcome).toBe("applied");
}

const buysOnce = (overrides: FixtureOverrides) =>
  happens("checkout.session.completed", { subscriptionId: null, ...overrides }, { mode: "payment" });

const ofUser = (userId: string) =>
  test.rows(
    `select provider_subscription_id as id, is_one_time as "isOneTime", status, plan_id as "planId"
     from subscription where user_id = $1 order by is_one_time desc`,
    [userId],
  );

const PURCHASE = { id: null, isOneTime: true, status: "active", planId: "pro" };

it("a plan bought with a single payment outlives the person's subscriptions", async () => {
  const about = { userId: "user_0", subscriptionId: "sub_0" };
  await buysOnce({ userId: "user_0" });
  await happens("customer.subscription.created", { ...about, status: "active" });
  await happens("customer.subscription.deleted", { ...about, status: "canceled" });
  expect(await ofUser("user_0")).toEqual([
    PURCHASE,
    { ...PURCHASE, id: "sub_0", isOneTime: false, status: "canceled" },
  ]);
});

it("it is kept beside a subscription whose checkout has named none yet", async () => {
  await happens("checkout.session.completed", { userId: "user_1", subscriptionId: null });
  await buysOnce({ userId: "user_1" });
  expect(await ofUser("user_1")).toEqual([PURCHASE, { ...PURCHASE, isOneTime: false }]);
});
