import { afterAll, beforeAll, expect, it } from "vitest";
import { createCheckout } from "../../../src/operations/billing/create-checkout.ts";
import { reconcileNightly } from "../../../src/reconcile/reconcile-nightly.ts";
import type { Runtime } from "../../../src/runtime/runtime.ts";
import { loadFixture } from "../../fixtures/fixture.ts";
import { createTestContext, session } from "../../operations/test-context.ts";
import { addUsers } from "../../support/database.ts";
import { startTestRuntime } from "../../support/runtime.ts";
import { takeTurn } from "../../support/stripe-context.ts";
import { STRIPE_KEY, type StripeServer, stripeServer } from "../../support/stripe-server.ts";
import { describeBehindPgBouncer, type OldPostgres } from "./debian-postgres.ts";

describeBehindPgBouncer("the oldest installed PostgreSQL, behind PgBouncer", ({ start }) => {
  let postgres: OldPostgres;
  let stripe: StripeServer;
  let runtime: Runtime;
  let rows: <Row>(text: string) => Promise<Row[]>;
  beforeAll(async () => {
    postgres = await start();
    stripe = await stripeServer();
    runtime = await startTestRuntime(postgres.pooledUrl, {
      DATABASE_PREPARED: "off",
      PROVIDER_A_API_KEY: STRIPE_KEY,
      PROVIDER_A_API_URL: stripe.url,
    });
    rows = (text) => runtime.database.run({ name: text.slice(0, 60), text });
    await addUsers({ rows: (text, values) => runtime.database.run({ name: "add", text }, values) }, 3);
  });
  afterAll(async () => {
    await runtime.close();
    await stripe.close();
    await postgres.stop();
  });

  it("creates one checkout for repeated requests", async () => {
    const { database, payments, activeProvider, appUrl, log } = runtime;
    const { call } = createTestContext({ database }, { payments, activeProvider, appUrl, log } as object);
    const clicks = Array.from({ length: 6 }, () =>
      call(createCheckout, session("user_0"), { planId: "pro" }),
    );
    expect(new Set((await Promise.all(clicks)).map(({ url }) => url)).size).toBe(1);
    expect(stripe.calls).toEqual(["GET /v1/customers", "POST /v1/customers", "POST /v1/checkout/sessions"]);
  });

  it("applies missed events and compares changed subscriptions, once a night", async () => {
    const facts = {
      userId: "user_1",
      subscriptionId: "sub_1",
      planId: "pro",
      priceId: "price_pro_monthly",
    };
    const bodyOf = (seats: number) =>
      loadFixture("stripe", "customer.subscription.created", {
        ...facts,
        seats,
        status: "active",
        eventId: "evt_1",
        occurredAt: new Date(),
      }).body as { id: string; type: string; created: number; data: { object: object } };
    stripe.events.push(bodyOf(1));
    stripe.subscriptions.set("sub_1", bodyOf(3).data.object);
    const nights = await Promise.all(
      [1, 2, 3].map(() => takeTurn(runtime, "nightly-comparison", (turn) => reconcileNightly(runtime, turn))),
    );
    expect(nights.filter((night) => night !== null)).toMatchObject([
      {
        slots: [{ slot: "provider-a", missed: { applied: 1 } }],
        corrected: [{ changes: { seats: [1, 3] } }],
      },
    ]);
    expect(await rows("select seats from subscription")).toEqual([{ seats: 3 }]);
    expect(await rows("select claim_source from webhook_delivery")).toEqual([{ claim_source: "reconcile" }]);
  });
});
