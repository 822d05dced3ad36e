import { beforeEach, describe, expect, it } from "vitest";
import { cancelUnwanted } from "../../src/billing/cancel-unwanted.ts";
import type { PaymentApi } from "../../src/domain/providers/payment-api.ts";
import { type PaymentApiFailure, PaymentApiProblem } from "../../src/domain/providers/payment-api-problem.ts";
import {
  insertResumed,
  insertUnwanted,
  rememberReplaced,
} from "../../src/store/subscriptions/unwanted-subscriptions.ts";
import type { FixtureOverrides } from "../fixtures/overrides.ts";
import { stripeContext } from "../support/stripe-context.ts";

const context = stripeContext();

type Answers = Pick<PaymentApi, "cancelSubscription" | "refundSubscription">;

/** Runs the job with a provider that answers like this. */
async function runJob(answers: Answers): Promise<{ outcome: string; logged: object[] }> {
  const { database, payments } = context.runtime;
  const logged: object[] = [];
  const api = { ...(payments["provider-a"] as PaymentApi), ...answers };
  const tools = { database, payments: { ...payments, "provider-a": api } };
  const log = { error: (facts: object) => void logged.push(facts) };
  return { outcome: await cancelUnwanted({ ...tools, log }, () => false), logged };
}

/** The same; returns what was logged. */
const run = async (answers: Answers) => (await runJob(answers)).logged;

const notified = () =>
  context.test.rows(
    "select user_id, kind, details->>'subscription' as subscription, details->>'refunded' as refunded from notification",
  );

const becomeDue = () => context.test.rows("update unwanted_subscription set next_attempt_at = now()");

const SUBSCRIPTION = { provider: "provider-a", providerSubscriptionId: "sub_1" } as const;

beforeEach(async () => {
  await context.test.rows(
    `update "user" set role = 'admin', banned = id = 'user_8' where id in ('user_8', 'user_9')`,
  );
});

describe("a subscription that was paid for after its account was deleted", () => {
  beforeEach(() => insertUnwanted(context.test.database, [SUBSCRIPTION]));

  it("is canceled and refunded, and administrators are notified, once", async () => {
    const calls: string[] = [];
    const answers = {
      cancelSubscription: async (id: string) => {
        calls.push(`cancel ${id}`);
        return "canceled" as const;
      },
      refundSubscription: async (id: string) => {
        calls.push(`refund ${id}`);
        return true;
      },
    };
    expect(await run(answers)).toEqual([]);
    await run(answers);
    expect(calls).toEqual(["cancel sub_1", "refund sub_1"]);
    expect(await notified()).toEqual([
      { user_id: "user_9", kind: "payment_undone", subscription: "sub_1", refunded: "yes" },
    ]);
  });

  it("is refunded later when its payment was not complete yet as it was canceled", async () => {
    await run({ cancelSubscription: async () => "canceled", refundSubscription: async () => false });
    expect(await notified()).toEqual([]);
    await becomeDue();
    await run({ cancelSubscription: async () => "canceled", refundSubscription: async () => true });
    expect(await notified()).toMatchObject([{ refunded: "yes" }]);
  });

  it("is reported as not refunded when no payment appears within ten minutes", async () => {
    const asked: number[] = [];
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      const refundSubscription = async () => {
        asked.push(attempt);
        return false;
      };
      await run({ cancelSubscription: async () => "canceled", refundSubscription });
      await becomeDue();
    }
    expect(asked).toEqual([1, 2, 3, 4]);
    expect(await notified()).toMatchObject([{ refunded: "no" }]);
  });

  /** Five times: the provider cancels it and fails to refund it. */
  async function runWhereRefundFails(failure: PaymentApiFailure) {
    const asked: number[] = [];
    const logged: object[] = [];
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      const refundSubscription = async () => {
        asked.push(attempt);
        throw new PaymentApiProblem(failure, "no refund");
      };
      logged.push(...(await run({ cancelSubscription: async () => "canceled", refundSubscription })));
      await becomeDue();
    }
    return { asked, logged };
  }

  it.each(["rejected", "unauthorized", "missing"] as const)(
    "is reported as not refunded when the provider has refused that for ten minutes (%s)",
    async (failure) => {
      const { asked, logged } = await runWhereRefundFails(failure);
      expect(asked).toEqual([1, 2, 3, 4]);
      expect(logged).toHaveLength(4);
      expect(logged).toContainEqual(expect.objectContaining({ reason: "no refund" }));
      expect(await notified()).toMatchObject([{ subscription: "sub_1", refunded: "no" }]);
    },
  );

  it("is refunded whenever the provider can be reached again", async () => {
    expect((await runWhereRefundFails("unreachable")).asked).toHaveLength(5);
    expect(await notified()).toEqual([]);
    await run({ cancelSubscription: async () => "canceled", refundSubscription: async () => true });
    expect(await notified()).toMatchObject([{ refunded: "yes" }]);
  });

  async function runWhereCancellationFails(failure: PaymentApiFailure, times: number) {
    for (let attempt = 1; attempt <= times; attempt += 1) {
      const cancelSubscription = async () => {
        throw new PaymentApiProblem(failure, "no cancellation");
      };
      await run({ cancelSubscription, refundSubscription: async () => true });
      await becomeDue();
    }
  }

  it.each(["rejected", "unauthorized"] as const)(
    "is reported, once, when the provider has refused to cancel it for forty minutes (%s)",
    async (failure) => {
      await runWhereCancellationFails(failure, 4);
      expect(await notified()).toEqual([]);
      await runWhereCancellationFails(failure, 2);
      expect(await notified()).toMatchObject([{ kind: "payment_not_undone", subscription: "sub_1" }]);
      await run({ cancelSubscription: async () => "canceled", refundSubscription: async () => true });
      expect(await notified()).toMatchObject([{}, { kind: "payment_undone", refunded: "yes" }]);
    },
  );

  it("is not reported as long as the provider cannot be reached", async () => {
    await runWhereCancellationFails("unreachable", 6);
    expect(await notified()).toEqual([]);
  });

  it("is canceled although another one has failed for months", async () => {
    await context.test.rows(
      `insert into unwanted_subscription (provider, provider_subscription_id, because, attempts, next_attempt_at)
       values ('provider-a', 'sub_0', 'account_deleted', 600, now() - interval '1 hour')`,
    );
    const logged = await run({
      cancelSubscription: async (id) => {
        if (id === "sub_0") throw new PaymentApiProblem("unreachable", "Stripe is unreachable: 500");
        return "canceled";
      },
      refundSubscription: async () => true,
    });
    expect(logged).toMatchObject([{ providerSubscriptionId: "sub_0" }]);
    expect(await notified()).toMatchObject([{ kind: "payment_undone", subscription: "sub_1" }]);
  });

  it("is canceled although no server has the key of another one's slot", async () => {
    await context.test.rows(
      `insert into unwanted_subscription (provider, provider_subscription_id, because, next_attempt_at, unclaimed_since)
       values ('provider-b', 'sub_0', 'account_deleted', now() - interval '1 hour', now() - interval '2 hours')`,
    );
    const logged = await run({
      cancelSubscription: async () => "canceled",
      refundSubscription: async () => true,
    });
    expect(logged).toMatchObject([{ slot: "provider-b", providerSubscriptionId: "sub_0" }]);
    expect(await notified()).toMatchObject([
      { kind: "payment_not_undone", subscription: "sub_0" },
      { kind: "payment_undone", subscription: "sub_1" },
    ]);
  });

  it("is left, with all of its attempts, to a server that has the key of its slot", async () => {
    const { database, payments } = context.runtime;
    const withoutKey = { database, payments: { ...payments, "provider-a": null }, log: { error: () => {} } };
    const state = () =>
      context.test.rows("select attempts, next_attempt_at <= now() as due from unwanted_subscription");
    for (let attempt = 1; attempt <= 4; attempt += 1) {
      expect(await cancelUnwanted(withoutKey, () => false)).toBe("ok");
      expect(await state()).toEqual([{ attempts: 0, due: true }]);
    }
    await run({ cancelSubscription: async () => "canceled", refundSubscription: async () => false });
    expect(await notified()).toEqual([]);
  });

  it("is reported when no server has had the key of its slot for ten minutes, not as the first one starts, and once", async () => {
    const { database, payments } = context.runtime;
    const logged: object[] = [];
    const log = { error: (facts: object) => void logged.push(facts) };
    const withoutKey = { database, payments: { ...payments, "provider-a": null }, log };
    const waitForEleven = () =>
      context.test.rows(
        "update unwanted_subscription set next_attempt_at = next_attempt_at - interval '11 minutes', attempts = 2",
      );
    const outcomes: string[] = [];
    // While no server ran; then beside the first one.
    for (let times = 0; times < 2; times += 1) {
      await waitForEleven();
      outcomes.push(
        await cancelUnwanted(withoutKey, () => false),
        await cancelUnwanted(withoutKey, () => false),
      );
    }
    expect(outcomes).toEqual(["ok", "ok", "failed", "ok"]);
    expect(logged).toEqual([{ slot: "provider-a", providerSubscriptionId: "sub_1" }]);
    expect(await notified()).toMatchObject([{ kind: "payment_not_undone", subscription: "sub_1" }]);
    expect(await context.test.rows("select attempts from unwanted_subscription")).toEqual([{ attempts: 2 }]);
  });

  it("makes the run count as failed until it has been canceled", async () => {
    const cancelSubscription = async () => {
      throw new PaymentApiProblem("unreachable", "Stripe is unreachable: 500");
    };
    const refundSubscription = async () => true;
    expect(await runJob({ cancelSubscription, refundSubscription })).toEqual({
      outcome: "failed",
      logged: [
        {
          slot: "provider-a",
          providerSubscriptionId: "sub_1",
          because: "account_deleted",
          reason: "Stripe is unreachable: 500",
        },
      ],
    });
    expect(await notified()).toEqual([]);
    await becomeDue();
    expect((await runJob({ cancelSubscription: async () => "canceled", refundSubscription })).outcome).toBe(
      "ok",
    );
  });
});

it("finds, cancels and refunds the second of two subscriptions of a person whose checkout was replaced", async () => {
  const { eventOf, receive, test } = context;
  await receive(eventOf("customer.subscription.created"));
  await receive(eventOf("customer.subscription.created", { subscriptionId: "sub_2" }));
  await rememberReplaced(test.database, { provider: "provider-a", id: "cs_1", userId: "user_1" });
  const calls: string[] = [];
  await run({
    cancelSubscription: async (id) => {
      calls.push(`cancel ${id}`);
      return "canceled";
    },
    refundSubscription: async (id) => {
      calls.push(`refund ${id}`);
      return true;
    },
  });
  expect(calls).toEqual(["cancel sub_2", "refund sub_2"]);
});

describe("a subscription that was resumed after its account was deleted", () => {
  const resume = () => insertResumed(context.test.database, [SUBSCRIPTION]);

  /** Runs the job where the provider has the subscription like this. Returns what it was asked to do. */
  async function runWhere(state: FixtureOverrides | null): Promise<string[]> {
    const calls: string[] = [];
    if (state !== null) context.truth(state);
    const cancelSubscription = async () => {
      calls.push("cancel");
      return "canceled" as const;
    };
    const refundSubscription = async () => {
      calls.push("refund");
      return true;
    };
    expect(await run({ cancelSubscription, refundSubscription })).toEqual([]);
    expect(await context.test.rows("select from unwanted_subscription where canceled_at is null")).toEqual(
      [],
    );
    return calls;
  }

  it("is canceled although a server that was paused during the earlier cancellation continues", async () => {
    await insertUnwanted(context.test.database, [SUBSCRIPTION]);
    context.truth({ status: "active", cancelAtPeriodEnd: false });
    const answers = {
      cancelSubscription: async () => "canceled" as const,
      refundSubscription: async () => true,
    };
    const whileStopped = async () => {
      await becomeDue();
      await run(answers);
      await resume();
      return true;
    };
    await run({ ...answers, refundSubscription: whileStopped });
    expect(await notified()).toMatchObject([{ refunded: "yes" }, { refunded: "not_due" }]);
  });

  it("is not reported by a server that was paused while another one canceled it", async () => {
    await insertUnwanted(context.test.database, [SUBSCRIPTION]);
    await context.test.rows("update unwanted_subscription set attempts = 9");
    await run({
      cancelSubscription: async () => {
        await becomeDue();
        await run({ cancelSubscription: async () => "canceled", refundSubscription: async () => true });
        await resume();
        throw new PaymentApiProblem("rejected", "no cancellation");
      },
      refundSubscription: async () => true,
    });
    expect(await notified()).toMatchObject([{ kind: "payment_undone" }]);
  });

  it("is canceled without a refund, and administrators are notified, once", async () => {
    await resume();
    expect(await runWhere({ status: "active", cancelAtPeriodEnd: false })).toEqual(["cancel"]);
    await becomeDue();
    expect(await runWhere({ status: "active", cancelAtPeriodEnd: false })).toEqual([]);
    expect(await notified()).toMatchObject([{ subscription: "sub_1", refunded: "not_due" }]);
  });

  it("is left alone where it has ended, is about to end or is unknown, and nobody is notified", async () => {
    await resume();
    expect(await runWhere(null)).toEqual([]);
    await resume();
    expect(await runWhere({ status: "active", cancelAtPeriodEnd: true })).toEqual([]);
    await resume();
    expect(await runWhere({ status: "canceled", cancelAtPeriodEnd: false })).toEqual([]);
    expect(await notified()).toEqual([]);
  });

  it("is canceled once when several events of a group report it", async () => {
    await insertResumed(context.test.database, [SUBSCRIPTION, SUBSCRIPTION]);
    expect(await runWhere({ status: "active", cancelAtPeriodEnd: false })).toEqual(["cancel"]);
    await insertResumed(context.test.database, [SUBSCRIPTION, SUBSCRIPTION]);
    expect(await runWhere({ status: "active", cancelAtPeriodEnd: false })).toEqual(["cancel"]);
  });

  it("is canceled each time that it is resumed", async () => {
    for (const _time of [1, 2]) {
      await resume();
      expect(await runWhere({ status: "active", cancelAtPeriodEnd: false })).toEqual(["cancel"]);
    }
    expect(await notified()).toHaveLength(2);
  });

  it("is refunded too where it was paid for after the deletion and that has not been undone yet", async () => {
    await insertUnwanted(context.test.database, [SUBSCRIPTION]);
    await resume();
    expect(await runWhere({ status: "active", cancelAtPeriodEnd: false })).toEqual(["cancel", "refund"]);
  });
});
