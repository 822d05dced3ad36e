import { beforeEach, expect, it } from "vitest";
import type { PaymentEvent } from "../../src/domain/events/payment-event.ts";
import type { PaymentApi } from "../../src/domain/providers/payment-api.ts";
import { compare } from "../../src/reconcile/compare.ts";
import type { CompareOptions } from "../../src/reconcile/comparison.ts";
import {
  findReconcilable,
  type ReconcilableSubscription,
} from "../../src/store/reconciliation/reconciliations.ts";
import { stripeContext } from "../support/stripe-context.ts";

const context = stripeContext();
const { eventOf, receive, truth, stored } = context;
const rows: typeof context.test.rows = (...query) => context.test.rows(...query);

let subscription: ReconcilableSubscription;
let fetches: number;

beforeEach(async () => {
  fetches = 0;
  await receive(eventOf("customer.subscription.created"));
  await find();
  truth();
});

async function find(): Promise<void> {
  const [{ id }] = (await rows("select id from subscription")) as [{ id: string }];
  subscription = (await findReconcilable(context.test.database, id)) as ReconcilableSubscription;
}

/** @param told what the provider's answer says besides, which may take some time */
function run(
  options: Partial<CompareOptions> = {},
  told: () => Promise<Partial<PaymentEvent>> = async () => ({}),
): ReturnType<typeof compare> {
  const { intake, payments } = context.runtime;
  const stripe = payments["provider-a"] as PaymentApi;
  const fetchSubscription: PaymentApi["fetchSubscription"] = async (id) => {
    fetches += 1;
    const state = await stripe.fetchSubscription(id);
    const more = await told();
    return state && { ...state, ...more };
  };
  const defaults = { by: "server", audit: "changes", dryRun: false, notify: true } as const;
  return compare(intake, { fetchSubscription }, subscription, { ...defaults, ...options });
}

it("gives up where an event arrives during each of five requests", async () => {
  const comparison = run({}, async () => {
    await receive(eventOf("customer.subscription.updated", { seats: fetches + 1 }));
    return {};
  });
  expect(await comparison).toEqual({ outcome: "left", because: { cause: "keeps_changing" } });
  expect(fetches).toBe(5);
  expect(await stored()).toMatchObject([{ seats: 6 }]);
});

it("leaves a subscription that is deleted meanwhile, and one whose id is not known yet", async () => {
  const comparison = run({}, async () => {
    await rows("delete from subscription");
    return {};
  });
  expect(await comparison).toEqual({ outcome: "left", because: { cause: "gone" } });
  subscription.providerSubscriptionId = null;
  expect(await run()).toEqual({ outcome: "left", because: { cause: "no_provider_id" } });
  expect(fetches).toBe(1);
});

it("keeps a customer found by an address only for a person who has confirmed that", async () => {
  const customers = () => rows("select customer_id from subscription");
  const foundBy = async () => ({ customerEmail: "user_1@example.com" });
  const unchanged = { outcome: "compared", changes: null };
  expect(await run({ dryRun: true }, foundBy)).toEqual(unchanged);
  expect(await customers()).toEqual([{ customer_id: "cus_1" }]);
  expect(await run({}, foundBy)).toEqual(unchanged);
  expect(await customers()).toEqual([{ customer_id: null }]);
  await rows(`update "user" set email = 'user_1@example.com', email_verified = true where id = 'user_1'`);
  await find();
  expect(await run({}, foundBy)).toEqual(unchanged);
  expect(await customers()).toEqual([{ customer_id: "cus_1" }]);
  expect(await context.audit()).toEqual([]);
});

it("stores a price that alone differs, as of when the provider was asked", async () => {
  truth({ priceId: "price_pro_yearly" });
  const state = () =>
    rows('select price_id, compared_at_micros is not null as "isCompared" from subscription');
  expect(await run()).toEqual({ outcome: "compared", changes: null });
  expect(await state()).toEqual([{ price_id: "price_pro_yearly", isCompared: true }]);
  expect(await context.audit()).toEqual([]);
});

it("has what renews without its person canceled, also where nothing differs", async () => {
  await rows("update subscription set user_id = null, customer_id = null");
  await find();
  expect(await run({ dryRun: true })).toEqual({ outcome: "compared", changes: null });
  expect(await rows("select from unwanted_subscription")).toEqual([]);
  expect(await run()).toEqual({ outcome: "compared", changes: null });
  expect(await rows("select provider_subscription_id as id, because from unwanted_subscription")).toEqual([
    { id: "sub_1", because: "resumed" },
  ]);
});

it("announces a correction to other systems, unless it is not to notify anybody", async () => {
  const announced = () => rows("select from outbound_change_set");
  const before = await announced();
  truth({ status: "past_due" });
  await run({ notify: false });
  expect([await announced(), await context.notified()]).toEqual([before, ["subscription_activated"]]);
  truth({ status: "active", seats: 3 });
  await find();
  await run();
  expect((await announced()).length).toBe(before.length + 1);
});
