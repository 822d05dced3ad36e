import { fileURLToPath } from "node:url";
import { runMigrations, StripeSync } from "@stripe/sync-engine";
import { serveWebhooks } from "./serve-webhooks.js";

const { DATABASE_URL, PROVIDER_A_WEBHOOK_SECRET, POOL_SIZE } = process.env;

// Warnings are one a stale event; errors are thrown as well.
const logger = { info() {}, warn() {}, error() {} };

// Its tables are made from Stripe's OpenAPI description, which it would download from GitHub.
const openApiSpecPath = fileURLToPath(new URL("sync-engine-openapi.json", import.meta.url));
await runMigrations({ databaseUrl: DATABASE_URL, openApiSpecPath, logger });

// As its own command listens to webhooks: the event's body is upserted, nothing is fetched from Stripe. With the account's id
// it does not ask Stripe for that either.
const sync = await StripeSync.create({
  poolConfig: { connectionString: DATABASE_URL, max: Number(POOL_SIZE), idleTimeoutMillis: 1_000 },
  stripeSecretKey: "sk_test_unused",
  stripeAccountId: "acct_bench",
  stripeWebhookSecret: PROVIDER_A_WEBHOOK_SECRET,
  backfillRelatedEntities: false,
  autoExpandLists: false,
  logger,
});

serveWebhooks(
  (body, signature) => sync.webhook.processWebhook(body, signature),
  () => sync.close(),
);
