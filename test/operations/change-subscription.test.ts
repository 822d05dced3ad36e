import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import shippedPlans from "../../plans.config.ts";
import { resolveChange } from "../../src/billing/resolve-change.ts";
import type { Caller } from "../../src/domain/callers/caller.ts";
import { definePlans } from "../../src/domain/plans/plan.ts";
import type { ChangeOrder, PaymentApi } from "../../src/domain/providers/payment-api.ts";
import { PaymentApiProblem } from "../../src/domain/providers/payment-api-problem.ts";
import type { ProviderTraits } from "../../src/domain/providers/provider-traits.ts";
import { changeSubscription } from "../../src/operations/billing/change-subscription.ts";
import { eventually } from "../support/eventually.ts";
import { writtenChanges } from "../support/stored-events.ts";
import { stripeContext } from "../support/stripe-context.ts";
import { createSubscription } from "../support/subscriptions.ts";
import { apiKey, createTestContext, session } from "./test-context.ts";

const context = stripeContext();
const { truth, stored } = context;

const TEAM = { planId: "team", priceId: "price_team_monthly" } as const;

/** What the provider was told, in order. */
let sent: ChangeOrder[];
/** The messages for the operator. */
let logged: string[];
/** Runs while the provider makes a change. */
let during: () => Promise<void>;
let id: string;

beforeEach(async () => {
  sent = [];
  logged = [];
  during = async () => {};
  const created = context.eventOf("customer.subscription.created", { ...TEAM, seats: 5 });
  // Sent again while the machine is too busy, as a provider does.
  await eventually(async () => (await context.receive(created)).outcome === "unavailable", false);
  const [subscription] = await context.test.rows<{ id: string }>("select id from subscription");
  id = subscription?.id ?? "";
});

/** Asks as the subscriber, of a provider that takes the whole new state, as Paddle does. */
async function change(
  input: object,
  {
    traits = {},
    isHealing = true,
    by = session("user_1"),
  }: { traits?: Partial<ProviderTraits>; isHealing?: boolean; by?: Caller } = {},
): Promise<unknown> {
  const { database, intake, payments } = context.runtime;
  const { requestComparison: _, ...withoutRequests } = intake;
  const stripe = payments["provider-a"] as PaymentApi;
  const api: PaymentApi = {
    ...stripe,
    traits: { ...stripe.traits, ...traits },
    changeSubscription: async (providerId, change) => {
      expect(providerId).toBe("sub_1");
      sent.push(change);
      if (change.when === "now")
        truth({
          planId: change.resultingPriceId === "price_pro_monthly" ? "pro" : "team",
          priceId: change.resultingPriceId,
          seats: change.resultingSeats,
        });
      await during();
    },
  };
  return createTestContext(
    { database },
    {
      intake: isHealing ? intake : withoutRequests,
      payments: { ...payments, "provider-a": api },
      log: { error: (_: object, message: string) => void logged.push(message) },
    },
  ).call(changeSubscription, by, { id, when: "now", ...input });
}

const schedule = (): Promise<unknown> =>
  context.test.rows(
    `insert into scheduled_change (subscription_id, plan_id, seats, takes_effect_at)
     values ($1, 'team', 20, now() + interval '1 day')`,
    [id],
  );

it.each([
  ["canceled", "no_subscription"],
  ["incomplete", "no_subscription"],
  ["unpaid", "subscription_not_paid"],
  ["paused", "subscription_not_paid"],
])("is refused while the subscription is %s", async (status, reason) => {
  await context.test.rows("update subscription set status = $1", [status]);
  await expect(change({ seats: 9 })).rejects.toMatchObject({ code: "conflict", reason });
  expect(sent).toEqual([]);
});

it("is made for the plan alone, notifies the subscriber and is announced to other systems", async () => {
  expect(await change({ planId: "pro" })).toMatchObject({ subscription: { planId: "pro", seats: 5 } });
  expect(sent).toEqual([
    {
      when: "now",
      priceId: "price_pro_monthly",
      resultingPriceId: "price_pro_monthly",
      currentPriceId: "price_team_monthly",
      seats: null,
      resultingSeats: 5,
    },
  ]);
  expect(await context.notified()).toContain("subscription_plan_changed");
  expect((await writtenChanges(context.test)).map(({ after }) => after.planId)).toEqual(["team", "pro"]);
});

it("is refused to a plan that its subscriber owns", async () => {
  const owned = { plan_id: "pro", is_one_time: true, provider_subscription_id: null };
  await createSubscription(context.test, "user_1", owned);
  for (const preview of [true, false])
    await expect(change({ planId: "pro", preview })).rejects.toMatchObject({ reason: "subscription_exists" });
  expect(await change({ seats: 6 })).toMatchObject({ subscription: { planId: "team", seats: 6 } });
});

it("is refused when nothing is to change", async () => {
  await expect(change({})).rejects.toMatchObject({
    reason: "invalid_input",
    params: { problem: "nothing_to_change" },
  });
  expect(sent).toEqual([]);
});

it("is recorded in the audit log before the provider is asked, when a key requests it", async () => {
  const recorded = () =>
    context.test.rows(
      "select actor_kind, actor_id, key_id, address, action, target_id, details from audit_entry where target_id = $1 order by id",
      [id],
    );
  await change({ seats: 6 });
  const onBehalf = {
    kind: "on-behalf",
    userId: "user_1",
    role: "user",
    keyId: "shop",
    address: "192.0.2.2",
  } as const;
  context.stripe.interfere(async ({ path }) =>
    path === "/v1/invoices/create_preview"
      ? { status: 200, body: { total: 1_000, amount_due: 1_000, currency: "eur" } }
      : undefined,
  );
  expect(await change({ seats: 7, preview: true }, { by: onBehalf })).toMatchObject({
    preview: { amountDue: 1_000, currency: "EUR" },
  });
  await expect(change({ seats: 100_000 }, { by: onBehalf })).rejects.toMatchObject({
    reason: "seats_out_of_range",
  });
  await change({ seats: 6 }, { by: onBehalf });
  expect(await recorded()).toEqual([]);

  let first: unknown;
  during = async () => {
    first = await recorded();
  };
  const about = { action: "subscription.change_requested", target_id: id };
  const byService = {
    ...about,
    actor_kind: "service-key",
    actor_id: null,
    key_id: "shop",
    address: "192.0.2.2",
  };
  await change({ seats: 7 }, { by: onBehalf });
  expect(first).toEqual([{ ...byService, details: { planId: "team", seats: 7, atPeriodEnd: false } }]);
  await change({ planId: "pro", seats: 5, when: "period_end" }, { by: apiKey("user_1") });
  expect((await recorded()).at(-1)).toMatchObject({
    ...about,
    actor_kind: "api-key",
    key_id: "key",
    details: { planId: "pro", atPeriodEnd: true },
  });
});

describe("a change for the end of the period", () => {
  const scheduled = () =>
    context.test.rows(
      `select plan_id as "planId", price_id as "priceId", seats,
         takes_effect_at = (select current_period_end from subscription) as "isAtPeriodEnd" from scheduled_change`,
    );
  const atPeriodEnd = (input: object) => change({ ...input, when: "period_end" });

  it("is remembered until another one replaces it, or what is paid now is ordered for then", async () => {
    await atPeriodEnd({ planId: "pro" });
    const toPro = { planId: "pro", priceId: "price_pro_monthly", isAtPeriodEnd: true };
    expect(await scheduled()).toEqual([{ ...toPro, seats: 5 }]);
    await atPeriodEnd({ planId: "pro", seats: 2 });
    expect(await scheduled()).toEqual([{ ...toPro, seats: 2 }]);
    await atPeriodEnd({ seats: 8 });
    expect(await scheduled()).toMatchObject([{ planId: "team", priceId: "price_team_monthly", seats: 8 }]);
    await atPeriodEnd({ planId: "team", seats: 5 });
    expect(await scheduled()).toEqual([]);
    expect(sent).toHaveLength(4);
    expect(await stored()).toMatchObject([{ plan_id: "team", seats: 5 }]);
  });

  it("is forgotten once one is made at once", async () => {
    await atPeriodEnd({ planId: "pro" });
    await change({ seats: 6 });
    expect(await scheduled()).toEqual([]);
  });

  it("stays although another one is refused, unless that has withdrawn it", async () => {
    await atPeriodEnd({ planId: "pro" });
    during = async () => {
      throw new PaymentApiProblem("rejected", "the card was declined");
    };
    await expect(change({ seats: 9 })).rejects.toMatchObject({ reason: "provider_rejected" });
    expect(await scheduled()).toMatchObject([{ planId: "pro" }]);
    during = async () => {
      const problem = new PaymentApiProblem("rejected", "the card was declined");
      problem.hasWithdrawnSchedule = true;
      throw problem;
    };
    await expect(change({ seats: 8 })).rejects.toMatchObject({ reason: "provider_rejected" });
    expect(await scheduled()).toEqual([]);
  });

  it("is not stored where the end of the period is unknown: only the provider can date it", async () => {
    await context.test.rows("update subscription set current_period_end = null");
    await atPeriodEnd({ planId: "pro" });
    expect(sent).toHaveLength(1);
    expect(await scheduled()).toEqual([]);
  });

  it("is refused where no period follows, or its provider cannot let it wait", async () => {
    const refusal = { code: "conflict", reason: "change_not_supported" };
    const because = (cause: string) => ({ ...refusal, params: { cause } });
    const cannotWait = { traits: { changesAtPeriodEnd: false } };
    const waiting = () => change({ seats: 9, when: "period_end" }, cannotWait);
    await expect(waiting()).rejects.toMatchObject(because("not_offered"));
    await context.test.rows("update subscription set cancel_at_period_end = true");
    await expect(atPeriodEnd({ seats: 9 })).rejects.toMatchObject(because("ending"));
    await expect(waiting()).rejects.toMatchObject(because("not_offered"));
    expect(sent).toEqual([]);
    await change({ seats: 9 }, cannotWait);
    expect(sent).toHaveLength(1);
  });
});

describe("a change that the provider refuses for now", () => {
  const refusal = { code: "conflict", reason: "change_not_supported" };

  it.each([
    ["plan", { planId: "pro" }],
    ["seats", { seats: 9 }],
  ])("is refused in its preview: of the %s while the subscription is ending", async (_, input) => {
    const options = { traits: { changesWhileEnding: false } };
    await context.test.rows("update subscription set cancel_at_period_end = true");
    for (const preview of [true, false])
      await expect(change({ ...input, preview }, options)).rejects.toMatchObject({
        ...refusal,
        params: { cause: "ending" },
      });
    expect(sent).toEqual([]);
    expect(await change({ planId: "team", seats: 5 }, options)).toMatchObject({ subscription: { seats: 5 } });
  });

  it.each([
    ["plan", { planId: "pro" }],
    ["seats", { seats: 9 }],
  ])("is refused in its preview: of the %s while a renewal is unpaid", async (_, input) => {
    const options = { traits: { changesWhilePastDue: false } };
    await context.test.rows("update subscription set status = 'past_due'");
    for (const preview of [true, false])
      await expect(change({ ...input, preview }, options)).rejects.toMatchObject({
        ...refusal,
        params: { cause: "payment_open" },
      });
    expect(sent).toEqual([]);
    await context.test.rows("update subscription set status = 'active'");
    await change(input, options);
    expect(sent).toHaveLength(1);
  });

  it("is refused in its preview: of the seats in a trial, not of the plan alone", async () => {
    const options = { traits: { changesSeatsInTrial: false } };
    await context.test.rows("update subscription set status = 'trialing'");
    for (const preview of [true, false])
      await expect(change({ seats: 9, preview }, options)).rejects.toMatchObject(refusal);
    expect(sent).toEqual([]);
    await change({ planId: "pro" }, options);
    expect(sent).toMatchObject([{ priceId: "price_pro_monthly", seats: null }]);
  });
});

describe("a change while another one is being made", () => {
  it("is refused, even if it seems to change nothing", async () => {
    const refusals: unknown[] = [];
    during = async () => {
      for (const input of [{ seats: 7 }, { seats: 5 }])
        await change(input).catch(({ reason }) => refusals.push(reason));
    };
    expect(await change({ seats: 10 })).toMatchObject({ subscription: { seats: 10 } });
    expect(refusals).toEqual(["checkout_in_progress", "checkout_in_progress"]);
    expect(sent).toHaveLength(1);
  });

  it("is refused until the provider's new state is stored, from which the next one starts", async () => {
    const refusals: unknown[] = [];
    context.stripe.interfere(async ({ method }) => {
      if (method === "GET") await change({ planId: "pro" }).catch(({ reason }) => refusals.push(reason));
      return undefined;
    });
    await change({ seats: 10 });
    context.stripe.interfere(null);
    expect(refusals).toEqual(["checkout_in_progress"]);
    await change({ planId: "team", seats: 12 });
    expect(sent).toMatchObject([{ resultingSeats: 10 }, { resultingSeats: 12, seats: 12, priceId: null }]);
    expect(await stored()).toMatchObject([{ plan_id: "team", seats: 12, out_of_order: false }]);
  });
});

describe("a change whose preview has been shown", () => {
  const periodEnd = async (): Promise<string | undefined> => {
    const [row] = await context.test.rows<{ end: Date }>(
      'select current_period_end as "end" from subscription',
    );
    return row?.end.toISOString();
  };

  it("is made as long as plan, seats and period are as they were in it", async () => {
    const expected = { planId: "team", seats: 5, currentPeriodEnd: await periodEnd() };
    await context.receive(context.eventOf("customer.subscription.updated", { ...TEAM, seats: 5 }));
    await change({ seats: 10, expected });
    expect(sent).toMatchObject([{ resultingSeats: 10 }]);
  });

  it("is made once when it is requested twice", async () => {
    const input = { seats: 10, expected: { planId: "team", seats: 5, currentPeriodEnd: await periodEnd() } };
    for (const _ of [1, 2]) expect(await change(input)).toMatchObject({ subscription: { seats: 10 } });
    expect(sent).toHaveLength(1);
  });

  it.each([
    ["the plan", "plan_id = 'pro'"],
    ["the number of seats", "seats = 6"],
    ["the period, as another interval does", "current_period_end = current_period_end + interval '1 year'"],
  ])("is refused when another one has changed %s", async (_, changed) => {
    const expected = { planId: "team", seats: 5, currentPeriodEnd: await periodEnd() };
    await context.test.rows(`update subscription set ${changed}`);
    for (const preview of [false, true])
      await expect(change({ planId: "team", seats: 10, expected, preview })).rejects.toMatchObject({
        code: "conflict",
        reason: "subscription_changed",
      });
    expect(sent).toEqual([]);
  });

  it("is refused when it has changed at the provider, of which no event has arrived", async () => {
    const expected = { planId: "team", seats: 5, currentPeriodEnd: await periodEnd() };
    truth({ ...TEAM, seats: 6 });
    await expect(change({ seats: 10, expected })).rejects.toMatchObject({ reason: "subscription_changed" });
    expect(sent).toEqual([]);
    await change({ seats: 10, expected: { ...expected, seats: 6 } });
    expect(sent).toMatchObject([{ seats: 10 }]);
  });

  it("is not made by a server that was stopped while another one took its turn", async () => {
    const expected = { planId: "team", seats: 5, currentPeriodEnd: await periodEnd() };
    truth({ ...TEAM, seats: 5 });
    context.stripe.interfere(async () => {
      await context.test.rows("update lease set token = gen_random_uuid() where name = 'checkout:user_1'");
      return undefined;
    });
    await expect(change({ seats: 10, expected })).rejects.toMatchObject({ reason: "checkout_in_progress" });
    expect(sent).toEqual([]);
  });

  it("is not made while the provider cannot say how it is there", async () => {
    const expected = { planId: "team", seats: 5, currentPeriodEnd: await periodEnd() };
    context.stripe.interfere(async () => ({ status: 500 }));
    await expect(change({ seats: 10, expected })).rejects.toMatchObject({ reason: "provider_unreachable" });
    expect(sent).toEqual([]);
  });

  it("is refused when the period's end has become known", async () => {
    await expect(change({ seats: 10, expected: { planId: "team", seats: 5 } })).rejects.toMatchObject({
      reason: "subscription_changed",
    });
    await context.test.rows("update subscription set current_period_end = null");
    await change({ seats: 10, expected: { planId: "team", seats: 5 } });
    expect(sent).toMatchObject([{ resultingSeats: 10 }]);
  });
});

it("is refused while no event has named the subscription's id at the provider", async () => {
  await context.test.rows("update subscription set provider_subscription_id = null");
  await expect(change({ seats: 9 })).rejects.toMatchObject({ code: "conflict", reason: "no_subscription" });
  expect(sent).toEqual([]);
});

it("finds no subscription by an unknown id, nor anybody else's", async () => {
  for (const named of [{ userId: "user_2" }, { userId: "user_1", id: randomUUID() }]) {
    const request = { id, seats: 9, when: "now", ...named } as const;
    const refused = resolveChange({ ...context.runtime, plans: shippedPlans, log: { error() {} } }, request);
    await expect(refused).rejects.toMatchObject({ code: "not_found" });
  }
});

it("refuses a plan that is not for sale for that, whatever the seats", async () => {
  for (const input of [{ planId: "free" }, { planId: "free", seats: 1 }])
    await expect(change(input)).rejects.toMatchObject({
      reason: "plan_not_sold_by",
      params: { plan: "Free", provider: "provider-a" },
    });
  await expect(change({ planId: "pro", seats: 6 })).rejects.toMatchObject({ reason: "seats_out_of_range" });
});

describe("a change of the interval", () => {
  const catalog = definePlans(
    shippedPlans.plans.map((plan) =>
      plan.id === "pro"
        ? { ...plan, priceIds: { "provider-a": ["price_pro_monthly", "price_former"] } }
        : { ...plan, prices: [] },
    ),
  );

  /** What the provider is told of somebody who has Pro at this price. */
  async function changeFrom(priceId: string | null, request: object, plans = catalog): Promise<ChangeOrder> {
    await context.test.rows("update subscription set plan_id = 'pro', price_id = $1", [priceId]);
    const requested = { id, userId: "user_1", when: "now", ...request } as const;
    return (await resolveChange({ ...context.runtime, plans }, requested)).change;
  }

  it("takes the plan's price for it, and keeps plan and seats", async () => {
    expect(await changeFrom("price_pro_monthly", { interval: "year" })).toEqual({
      when: "now",
      priceId: "price_pro_yearly",
      resultingPriceId: "price_pro_yearly",
      currentPriceId: "price_pro_monthly",
      seats: null,
      resultingSeats: 5,
    });
  });

  it("changes no price where it is paid like that already, at a former price too", async () => {
    for (const priceId of ["price_pro_monthly", "price_former"])
      expect(await changeFrom(priceId, { interval: "month" })).toMatchObject({
        priceId: null,
        resultingPriceId: priceId,
      });
  });

  it("leaves a plan behind that is no longer in the catalog", async () => {
    const withoutPro = definePlans(catalog.plans.filter(({ id }) => id !== "pro"));
    expect(await changeFrom("price_pro_yearly", { planId: "team" }, withoutPro)).toMatchObject({
      priceId: "price_team_monthly",
      currentPriceId: "price_pro_yearly",
    });
  });

  it("leaves a price behind that is no longer known", async () => {
    for (const priceId of ["price_of_old", null])
      expect(await changeFrom(priceId, { interval: "month" })).toMatchObject({
        priceId: "price_pro_monthly",
      });
  });

  it("goes with a change of plan, which otherwise keeps the interval where the plan is sold for it", async () => {
    const toTeam = await changeFrom("price_pro_yearly", { planId: "team", interval: "month" });
    expect(toTeam).toMatchObject({ priceId: "price_team_monthly" });
    expect(await changeFrom("price_pro_yearly", { planId: "team" })).toEqual(toTeam);
  });

  it("keeps the currency, and the interval too where the new plan is sold for it in that", async () => {
    const inDollars = { amount: 1, currency: "USD" };
    const plans = definePlans(
      shippedPlans.plans.map((plan) => ({
        ...plan,
        prices: [
          { ...inDollars, interval: "month", priceIds: { "provider-a": `price_${plan.id}_usd` } },
          ...(plan.id === "team" ? [] : plan.prices),
          { ...inDollars, interval: "year", priceIds: { "provider-a": `price_${plan.id}_usd_yearly` } },
        ],
      })),
    );
    const toTeam = async (priceId: string, sold = plans) =>
      (await changeFrom(priceId, { planId: "team" }, sold)).priceId;
    expect(await toTeam("price_pro_usd")).toBe("price_team_usd");
    expect(await toTeam("price_pro_usd_yearly")).toBe("price_team_usd_yearly");
    const monthly = plans.plans.map((plan) =>
      plan.id === "team"
        ? { ...plan, prices: plan.prices.filter(({ interval }) => interval === "month") }
        : plan,
    );
    expect(await toTeam("price_pro_usd_yearly", definePlans(monthly))).toBe("price_team_usd");
    // Of a price that is no longer known, neither is.
    expect(await toTeam("price_of_old")).toBe("price_team_monthly");
  });

  it("keeps the currency of its plan where the price is unknown, as it is shown", async () => {
    const inDollarsFirst = catalog.plans.map((plan) => {
      if (plan.id !== "team") return plan;
      const inEuros = { ...plan.price, priceIds: { "provider-a": "price_team_eur" } };
      return { ...plan, price: { ...plan.price, currency: "USD" }, prices: [inEuros] };
    });
    const toTeam = await changeFrom(null, { planId: "team" }, definePlans(inDollarsFirst));
    expect(toTeam.priceId).toBe("price_team_eur");
  });

  it("is refused where its provider does not sell the plan for it", async () => {
    const refused = changeFrom("price_pro_yearly", { planId: "team", interval: "year" });
    await expect(refused).rejects.toMatchObject({
      reason: "price_not_offered",
      params: { plan: "Team", interval: "year", currency: "EUR" },
    });
  });
});

describe("a change to a plan whose first price is no longer sold", () => {
  async function changeWith(priceIds: Record<string, string>) {
    const plans = definePlans(
      shippedPlans.plans.map((plan) =>
        plan.id === "pro"
          ? { ...plan, priceIds: {}, prices: [{ ...plan.price, interval: "year", priceIds }] }
          : plan,
      ),
    );
    const request = { id, userId: "user_1", planId: "pro", when: "now" } as const;
    return (await resolveChange({ ...context.runtime, plans }, request)).change;
  }

  it("takes another price that its provider sells", async () => {
    expect(await changeWith({ "provider-a": "price_pro_yearly" })).toMatchObject({
      resultingPriceId: "price_pro_yearly",
    });
  });

  it("is refused if its provider sells none", async () => {
    await expect(changeWith({ "provider-b": "pri_pro_yearly" })).rejects.toMatchObject({
      reason: "plan_not_sold_by",
    });
  });
});

it("stores what was changed although the provider reports a failure", async () => {
  during = async () => {
    throw new PaymentApiProblem("rejected", "the invoice could not be sent");
  };
  await expect(change({ seats: 9 })).rejects.toMatchObject({ reason: "provider_rejected" });
  expect(await stored()).toMatchObject([{ seats: 9 }]);
  expect(logged).toEqual(["a request to a payment provider failed"]);
});

it("logs why the provider reports a failure although what was changed is not what is expected", async () => {
  const [stored] = await context.test.rows<{ end: Date }>(
    'select current_period_end as "end" from subscription',
  );
  during = async () => {
    truth({ ...TEAM, seats: 7 });
    throw new PaymentApiProblem("rejected", "the invoice could not be sent");
  };
  const expected = { planId: "team", seats: 5, currentPeriodEnd: stored?.end?.toISOString() ?? null };
  await expect(change({ seats: 9, expected })).rejects.toMatchObject({ reason: "subscription_changed" });
  expect(logged).toEqual(["a request to a payment provider failed"]);
});

it.each([
  ["the provider gave no response", "unreachable", null],
  ["it cannot be compared afterwards", "rejected", 500],
] as const)("requests a comparison when %s", async (_, failure, status) => {
  during = async () => {
    throw new PaymentApiProblem(failure, "failed");
  };
  if (status !== null) context.stripe.interfere(async () => ({ status }));
  await expect(change({ seats: 9 })).rejects.toMatchObject({ code: "unavailable" });
  await eventually(
    () => context.test.rows("select requested from subscription_heal where subscription_id = $1", [id]),
    [{ requested: true }],
  );
});

it.each([
  ["has ended", "rejected", { status: "canceled" }, {}, "no_subscription"],
  ["has been canceled", "unsupported", { status: "canceled" }, {}, "no_subscription"],
  ["is unpaid", "rejected", { status: "unpaid" }, {}, "subscription_not_paid"],
  [
    "is ending",
    "rejected",
    { cancelAtPeriodEnd: true },
    { changesWhileEnding: false },
    "change_not_supported",
  ],
  ["is past due", "rejected", { status: "past_due" }, { changesWhilePastDue: false }, "change_not_supported"],
] as const)(
  "names the reason when the subscription %s at the provider, of which no event has arrived",
  async (_, failure, state, traits, reason) => {
    during = async () => {
      truth({ ...TEAM, seats: 5, ...state });
      throw new PaymentApiProblem(failure, "not of this subscription");
    };
    await expect(change({ seats: 9 }, { traits })).rejects.toMatchObject({ code: "conflict", reason });
    expect(sent).toHaveLength(1);
    // It would say to check the price ids, which are right.
    expect(logged).toEqual([]);
  },
);

describe("a preview that the provider rejects", () => {
  const rejecting = (state: object) => {
    truth({ ...TEAM, seats: 5 });
    context.stripe.interfere(async ({ path }) => {
      if (path !== "/v1/invoices/create_preview") return undefined;
      truth({ ...TEAM, seats: 5, ...state });
      return { status: 400, body: { error: { type: "invalid_request_error", message: "not of this one" } } };
    });
  };

  it("names the reason when the subscription has ended, of which no event has arrived", async () => {
    rejecting({ status: "canceled" });
    await expect(change({ seats: 9, preview: true })).rejects.toMatchObject({ reason: "no_subscription" });
    expect(await stored()).toMatchObject([{ status: "canceled" }]);
    // It would say to check the price ids, which are right.
    expect(logged).toEqual([]);
  });

  it("is refused, and logged, when the subscription is as it was", async () => {
    rejecting({});
    await expect(change({ seats: 9, preview: true })).rejects.toMatchObject({ reason: "provider_rejected" });
    expect(logged).toEqual(["a request to a payment provider failed"]);
  });

  it("is logged where the provider does not answer", async () => {
    context.stripe.interfere(async () => ({ status: 500 }));
    await expect(change({ seats: 9, preview: true })).rejects.toMatchObject({
      reason: "provider_unreachable",
    });
    expect(logged).toEqual(["a request to a payment provider failed"]);
  });
});

it("stores at once what was changed without a response where no job compares it later", async () => {
  during = async () => {
    throw new PaymentApiProblem("unreachable", "failed");
  };
  await expect(change({ seats: 9 }, { isHealing: false })).rejects.toMatchObject({ code: "unavailable" });
  expect(await stored()).toMatchObject([{ seats: 9 }]);
});

it.each([
  ["for the period's end", "period_end", async () => {}],
  ["at once, which withdraws the one that waits", "now", () => schedule()],
] as const)(
  "requests a comparison before it sends a change %s: the response may be lost",
  async (_, when, before) => {
    await before();
    let isRequested: unknown;
    during = async () => {
      const requested = () => context.test.rows("select requested from subscription_heal");
      await eventually(requested, [{ requested: true }]);
      isRequested = true;
    };
    await change({ seats: 9, when });
    expect(isRequested).toBe(true);
  },
);

it.each([undefined, "payment_open"] as const)(
  "is refused as not supported where the provider cannot make it of the subscription as it is: %s",
  async (obstacle) => {
    during = async () => {
      throw new PaymentApiProblem("unsupported", "not of this subscription", { obstacle });
    };
    await expect(change({ seats: 6 })).rejects.toMatchObject({
      code: "conflict",
      reason: "change_not_supported",
      params: { cause: obstacle ?? "not_offered" },
    });
  },
);

it("says that the payment was declined, and logs nothing that an operator had to mend", async () => {
  during = async () => {
    throw new PaymentApiProblem("declined", "the card was declined");
  };
  await expect(change({ seats: 6 })).rejects.toMatchObject({ code: "conflict", reason: "payment_declined" });
  expect(logged).toEqual([]);
});

it("reports a change of which only a part was made, and stores that part", async () => {
  during = async () => {
    truth({ ...TEAM, seats: 5, planId: "pro", priceId: "price_pro_monthly" });
    throw new PaymentApiProblem("incomplete", "the seats were refused");
  };
  await expect(change({ planId: "pro", seats: 3 })).rejects.toMatchObject({ reason: "change_incomplete" });
  expect(await stored()).toMatchObject([{ plan_id: "pro", seats: 5 }]);
});

describe("a plan at once that includes less", () => {
  const END = "2037-01-01T00:00:00Z";
  const recordUsed = (used: number, periodEnd = END, feature = "events") =>
    context.test.rows(
      "insert into usage_counter (user_id, feature, period_end, used) values ('user_1', $1, $2, $3)",
      [feature, periodEnd, used],
    );

  it("is refused once more has been used than it includes, in its preview too", async () => {
    await recordUsed(100_001);
    for (const preview of [true, false])
      await expect(change({ planId: "pro", preview })).rejects.toMatchObject({
        reason: "plan_includes_less",
        params: { feature: "events" },
        field: "planId",
      });
    expect(sent).toEqual([]);
  });

  it("is made while it includes what has been used, in this period alone", async () => {
    await recordUsed(100_000);
    await recordUsed(10_000_000, "2026-12-01T00:00:00Z");
    await context.test.rows(
      "insert into usage_counter (user_id, feature, period_end, used) values ('user_2', 'events', $1, 100001)",
      [END],
    );
    await change({ planId: "pro" });
    expect(sent).toHaveLength(1);
  });

  it("is made whatever has been used of a quota that the present plan includes no longer", async () => {
    await recordUsed(1, END, "exports");
    await change({ planId: "pro" });
    expect(sent).toHaveLength(1);
  });

  it("can be ordered for the next period, whose quotas are new, and seats be changed", async () => {
    await recordUsed(100_001);
    await change({ planId: "pro", when: "period_end" });
    await change({ seats: 6 });
    expect(sent).toHaveLength(2);
  });
});

describe("another interval at once", () => {
  const intervalChanges = async () =>
    (await context.test.rows<{ n: number }>("select count(*)::int as n from interval_change"))[0]?.n;
  const toYear = () => change({ interval: "year" });

  beforeEach(async () => {
    await context.test.rows("update subscription set plan_id = 'pro', price_id = 'price_pro_monthly'");
    truth({ seats: 5 });
    during = async () => truth({ seats: 5, priceId: "price_pro_yearly" });
  });

  const recorded = (days: number) =>
    context.test.rows(
      "insert into interval_change (subscription_id, changed_at) select id, now() - $1::int * interval '1 day' from subscription",
      [days],
    );

  it("is made three times within 30 days", async () => {
    for (const days of [29, 29, 31]) await recorded(days);
    await toYear();
    expect(await intervalChanges()).toBe(4);
    const refusal = { code: "conflict", reason: "interval_changed_often" };
    await expect(change({ interval: "month" })).rejects.toMatchObject(refusal);
    await expect(change({ interval: "month", preview: true })).rejects.toMatchObject(refusal);
    await expect(change({ planId: "team", interval: "month" })).rejects.toMatchObject(refusal);
    expect(sent).toHaveLength(1);
  });

  it("leaves another plan for the same interval possible, however often it was made", async () => {
    for (const days of [1, 1, 1]) await recorded(days);
    await expect(toYear()).rejects.toMatchObject({ reason: "interval_changed_often" });
    during = async () => truth({ seats: 5, priceId: "price_team_monthly" });
    await change({ planId: "team" });
    expect(sent).toHaveLength(1);
    expect(await intervalChanges()).toBe(3);
  });

  it("is not remembered if the card was declined", async () => {
    during = async () => {
      throw new PaymentApiProblem("rejected", "the card was declined");
    };
    await expect(toYear()).rejects.toMatchObject({ reason: "provider_rejected" });
    expect(await intervalChanges()).toBe(0);
  });

  it.each(["unreachable", "incomplete"] as const)("is remembered if it is %s", async (failure) => {
    during = async () => {
      throw new PaymentApiProblem(failure, "it may have been made");
    };
    await expect(toYear()).rejects.toMatchObject({ code: "unavailable" });
    expect(await intervalChanges()).toBe(1);
  });

  it("logs the provider's error although the database fails next", async () => {
    during = async () => {
      await context.test.rows("alter table interval_change rename to gone");
      throw new PaymentApiProblem("incomplete", "it may have been made");
    };
    await expect(toYear()).rejects.toThrow();
    await context.test.rows("alter table gone rename to interval_change");
    expect(logged).toContain("a request to a payment provider failed");
  });

  it("may be taken back in a trial, whose end and quotas it leaves alone", async () => {
    await context.test.rows("update subscription set status = 'trialing'");
    during = async () => truth({ seats: 5, priceId: "price_pro_yearly", status: "trialing" });
    await toYear();
    expect(await intervalChanges()).toBe(0);
  });
});

it("previews no cost where nothing changes, whatever the current price is", async () => {
  expect(await change({ seats: 5, preview: true })).toMatchObject({
    preview: { amountDue: 0, currency: "EUR" },
  });
  await context.test.rows("update subscription set price_id = 'price_of_old'");
  expect(await change({ seats: 5, preview: true })).toMatchObject({ preview: null });
  expect(sent).toEqual([]);
});
