import { afterAll, beforeAll, beforeEach } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { createLog } from "../../src/observability/log.ts";
import { type Runtime, startRuntime } from "../../src/runtime/runtime.ts";
import { freshDatabase, type TestDatabase } from "../support/database.ts";
import { STRIPE_KEY, type StripeServer, stripeServer } from "../support/stripe-server.ts";
import { serverVariables } from "../support/variables.ts";

export type ImportContext = {
  test: TestDatabase;
  stripe: StripeServer;
  runtime: Runtime;
  variables: Record<string, string>;
};

/** A database without users, emptied before each test, whose provider-a is a server that speaks Stripe's API. */
export function importContext(): ImportContext {
  const context = {} as ImportContext;
  beforeAll(async () => {
    context.test = await freshDatabase(0);
    context.stripe = await stripeServer();
    context.variables = {
      ...serverVariables(context.test.url),
      PROVIDER_A_API_KEY: STRIPE_KEY,
      PROVIDER_A_API_URL: context.stripe.url,
    };
    context.runtime = await startRuntime(readConfig(context.variables), { log: createLog("silent") });
  });
  afterAll(async () => {
    await context.runtime.close();
    await context.stripe.close();
    await context.test.drop();
  });
  beforeEach(async () => {
    context.stripe.subscriptions.clear();
    context.stripe.interfere(null);
    await context.test.rows(
      `truncate "user", deleted_user, subscription, reconciliation, webhook_delivery, webhook_attempt, notification,
         outbound_event, import_run cascade`,
    );
  });
  return context;
}
