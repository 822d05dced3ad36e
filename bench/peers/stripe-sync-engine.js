import { createRequire } from "node:module";
import { serveWebhooks } from "./serve-webhooks.js";

// The CommonJS build: the ESM one looks for its migrations with `__dirname`, which ESM does not have.
const { runMigrations, StripeSync } = createRequire(import.meta.url)("@supabase/stripe-sync-engine");

const { DATABASE_URL, PROVIDER_A_WEBHOOK_SECRET, POOL_SIZE } = process.env;

await runMigrations({ databaseUrl: DATABASE_URL, schema: "stripe", logger: { info() {}, error: giveUp } });

// Its documented way with webhooks: the event's body is upserted, nothing is fetched from Stripe.
const sync = new StripeSync({
  poolConfig: { connectionString: DATABASE_URL, max: Number(POOL_SIZE), idleTimeoutMillis: 1_000 },
  stripeSecretKey: "sk_test_unused",
  stripeWebhookSecret: PROVIDER_A_WEBHOOK_SECRET,
  backfillRelatedEntities: false,
  autoExpandLists: false,
});

serveWebhooks(
  (body, signature) => sync.processWebhook(body, signature),
  () => sync.close(),
);

// It reports failed migrations to its logger and goes on; a server on half a schema would answer errors.
function giveUp(error, message) {
  process.stderr.write(`${message}: ${error.stack}\n`);
  process.exit(1);
}
