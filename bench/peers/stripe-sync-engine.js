import { createServer } from "node:http";
import { createRequire } from "node:module";

// The CommonJS build: the ESM one looks for its migrations with `__dirname`, which ESM does not have.
const { runMigrations, StripeSync } = createRequire(import.meta.url)("@supabase/stripe-sync-engine");

const { DATABASE_URL, PROVIDER_A_WEBHOOK_SECRET, PORT, POOL_SIZE } = process.env;

await runMigrations({ databaseUrl: DATABASE_URL, schema: "stripe", logger: { info() {}, error: giveUp } });

// Its documented way with webhooks: the event's body is upserted, nothing is fetched from Stripe.
const sync = new StripeSync({
  poolConfig: { connectionString: DATABASE_URL, max: Number(POOL_SIZE), idleTimeoutMillis: 1_000 },
  stripeSecretKey: "sk_test_unused",
  stripeWebhookSecret: PROVIDER_A_WEBHOOK_SECRET,
  backfillRelatedEntities: false,
  autoExpandLists: false,
});

const server = createServer((request, response) => {
  if (request.url === "/api/ready") return answer(response, 200, { status: "ready" });
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", async () => {
    try {
      await sync.processWebhook(Buffer.concat(chunks), request.headers["stripe-signature"]);
      answer(response, 200, { received: true });
    } catch (error) {
      process.stderr.write(`${error.stack}\n`);
      answer(response, 500, { error: error.message });
    }
  });
});

// It reports failed migrations to its logger and goes on; a server on half a schema would answer errors.
function giveUp(error, message) {
  process.stderr.write(`${message}: ${error.stack}\n`);
  process.exit(1);
}

function answer(response, status, body) {
  const text = JSON.stringify(body);
  response.writeHead(status, { "content-type": "application/json", "content-length": text.length });
  response.end(text);
}

server.listen(Number(PORT), "127.0.0.1");

process.on("SIGTERM", () => {
  server.closeAllConnections();
  server.close(async () => {
    await sync.close();
    process.exit(0);
  });
});
