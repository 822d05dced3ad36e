import { afterAll, beforeAll, beforeEach } from "vitest";
import type { WithSubscriptionChange } from "../../src/domain/outbound/subscription-hook.ts";
import { withHooksOf } from "../../src/intake/call-hooks.ts";
import type { Turn } from "../../src/jobs/job-runner.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { withLease } from "../../src/store/hold-lease.ts";
import { loadFixture, signedDelivery } from "../fixtures/fixture.ts";
import type { FixtureOverrides, JsonObject } from "../fixtures/overrides.ts";
import { addUsers, type TestDatabase } from "./database.ts";
import { startTestRuntime } from "./runtime.ts";
import { STRIPE_KEY, type StripeServer, stripeServer } from "./stripe-server.ts";
import { testDatabase } from "./test-database.ts";
import { SECRETS, serverVariables } from "./variables.ts";

const PAID: FixtureOverrides = {
  userId: "user_1",
  subscriptionId: "sub_1",
  customerId: "cus_1",
  planId: "pro",
  priceId: "price_pro_monthly",
  seats: 1,
  status: "active",
  currentPeriodEnd: new Date("2037-01-01T00:00:00Z"),
  cancelAtPeriodEnd: false,
};

const TABLES = `"user", deleted_user, subscription, subscription_heal, heal_pace, event_sweep, reconciliation,
  nightly_reconcile, lease, webhook_delivery, webhook_attempt, notification, outbound_change_set, outbound_event,
  import_run, unwanted_subscription`;

/** Two processes on one database, whose provider-a is a server that speaks Stripe's API. */
export type StripeContext = {
  test: TestDatabase;
  stripe: StripeServer;
  runtime: Runtime;
  other: Runtime;
  /** Of both processes. */
  variables: Record<string, string>;
  /** An event as the provider would make it, of the fixture's subscription unless overridden. */
  eventOf(
    kind: string,
    overrides?: FixtureOverrides,
  ): JsonObject & { id: string; type: string; created: number };
  receive(body: object, by?: Runtime): ReturnType<Runtime["intake"]["receive"]>;
  /** Sets the provider's state of the subscription. */
  truth(overrides?: FixtureOverrides, kind?: string): void;
  /** Until the next test: a plugin's hook throws at each change of these users' subscriptions. */
  refuseChangesOf(...userIds: string[]): void;
  stored(): Promise<Record<string, unknown>[]>;
  audit(): Promise<{ changes: object; by: string; user_id: string | null }[]>;
  notified(): Promise<string[]>;
};

/** Emptied before each test, but for these users: `user_0` and up. */
export function stripeContext({ users = 10 } = {}): StripeContext {
  let events = 0;
  const context = {
    test: testDatabase(0),
    eventOf: (kind, overrides = {}) => {
      events += 1;
      const occurredAt = overrides.occurredAt ?? new Date(Date.now() - 60_000 + events);
      const eventId = `evt_${events}`;
      return loadFixture("stripe", kind, { ...PAID, ...overrides, occurredAt, eventId }).body;
    },
    receive: async (body, by = context.runtime) => {
      const { rawBody, headers } = signedDelivery("stripe", body, {
        secret: SECRETS["provider-a"],
        nowSeconds: Math.floor(Date.now() / 1000),
      });
      return by.intake.receive("provider-a", { rawBody, header: (name) => headers[name] });
    },
    truth: (overrides = {}, kind = "customer.subscription.updated") => {
      const { data } = context.eventOf(kind, overrides) as unknown as { data: { object: { id: string } } };
      context.stripe.subscriptions.set(data.object.id, data.object);
    },
    refuseChangesOf: (...userIds) => {
      const withSubscriptionChange: WithSubscriptionChange = ({ subscription: { userId } }) => {
        if (userId !== null && userIds.includes(userId)) throw new Error("refused");
      };
      context.runtime.intake.hooks = withHooksOf([{ name: "refusing", withSubscriptionChange }]);
    },
    stored: () =>
      context.test.rows(`select plan_id, seats, status, current_period_end, cancel_at_period_end, out_of_order, user_id
        from subscription order by created_at`),
    audit: () => context.test.rows("select changes, by, user_id from reconciliation order by id"),
    notified: async () => {
      const rows = await context.test.rows<{ kind: string }>("select kind from notification order by id");
      return rows.map(({ kind }) => kind);
    },
  } as StripeContext;

  beforeAll(async () => {
    context.stripe = await stripeServer();
    context.variables = {
      ...serverVariables(context.test.url),
      PROVIDER_A_API_KEY: STRIPE_KEY,
      PROVIDER_A_API_URL: context.stripe.url,
      SELF_HEAL: "on",
    };
    context.runtime = await startTestRuntime(context.test.url, context.variables);
    context.other = await startTestRuntime(context.test.url, context.variables);
  });
  afterAll(async () => {
    await context.runtime.close();
    await context.other.close();
    await context.stripe.close();
  });
  beforeEach(async () => {
    const { stripe, test, runtime } = context;
    runtime.intake.hooks = withHooksOf([]);
    stripe.interfere(null);
    stripe.events.length = 0;
    stripe.subscriptions.clear();
    stripe.calls.length = 0;
    await test.rows(`truncate ${TABLES} cascade`);
    await addUsers(test, users);
  });
  return context;
}

/** Runs one turn of a job as a server does; `null`: the other process is running it. */
export function takeTurn<Result>(
  { database }: Runtime,
  job: string,
  run: (turn: Turn) => Promise<Result>,
  isStopping = () => false,
): Promise<Result | null> {
  return withLease(database, `job:${job}`, { seconds: 30 }, (lease) => run({ lease, isStopping }));
}
