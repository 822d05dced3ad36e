import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { runMigrations, StripeSync } from "@stripe/sync-engine";

const { DATABASE_URL, PROVIDER_A_WEBHOOK_SECRET, PORT, POOL_SIZE } = process.env;

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

const server = createServer((request, response) => {
  if (request.url === "/api/ready") return answer(response, 200, { status: "ready" });
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", async () => {
    try {
      await sync.webhook.processWebhook(Buffer.concat(chunks), request.headers["stripe-signature"]);
      answer(response, 200, { received: true });
    } catch (error) {
      process.stderr.write(`${error.stack}\n`);
      answer(response, 500, { error: error.message });
    }
  });
});

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
