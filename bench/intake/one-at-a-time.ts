import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import pg from "pg";
import plans from "../../plans.config.ts";
import { parsePayload } from "../../src/intake/payload.ts";
import { stripe } from "../../src/providers/stripe/webhook.ts";

/**
 * What Tollgate would be without its groups: the same checks, the same tables, and for each event two
 * transactions of one statement each. The claim does not wait for the disk, as Tollgate's does not.
 */
const CLAIM = `
with setting as materialized (select set_config('synchronous_commit', 'off', true) as value)
insert into webhook_delivery as d
  (provider, event_id, event_type, format, status, claim_source, lease_until, occurred_at, payload)
select 'provider-a', $1, $2, 'stripe', 'pending', 'delivery', clock_timestamp() + interval '30 seconds',
  to_timestamp($3::float8 / 1e6), $4::text::json
from setting where value is not null
on conflict (provider, event_id) do update set
  status = 'pending', claim_no = d.claim_no + 1, claimed_at = clock_timestamp(),
  lease_until = clock_timestamp() + interval '30 seconds', next_attempt_at = null, completed_at = null
where d.status = 'failed' or (d.status = 'pending' and d.lease_until < clock_timestamp())
returning id, claim_no`;

const APPLY = `
with held as (
  update webhook_delivery set status = 'successful', completed_at = clock_timestamp(), lease_until = null
  where id = $1 and claim_no = $2 and status = 'pending'
    and exists (select from "user" where id = $4)
  returning id, claim_no, claimed_at
), attempted as (
  insert into webhook_attempt (delivery_id, claim_no, source, outcome, started_at, duration_ms)
  select id, claim_no, 'delivery', 'successful', claimed_at, extract(epoch from clock_timestamp() - claimed_at) * 1000
  from held
)
insert into subscription as s
  (id, user_id, provider, provider_subscription_id, customer_id, price_id, plan_id, seats, status,
    current_period_end, cancel_at_period_end, out_of_order, last_event_at_micros)
select gen_random_uuid(), $4, 'provider-a', $3, $5, $6, $7, $8, $9, $10, $11, false, $12 from held
on conflict (provider, provider_subscription_id) do update set
  user_id = excluded.user_id, customer_id = excluded.customer_id, price_id = excluded.price_id,
  plan_id = excluded.plan_id, seats = excluded.seats, status = excluded.status,
  current_period_end = excluded.current_period_end, cancel_at_period_end = excluded.cancel_at_period_end,
  out_of_order = s.out_of_order or excluded.last_event_at_micros < s.last_event_at_micros,
  last_event_at_micros = greatest(excluded.last_event_at_micros, s.last_event_at_micros),
  updated_at = clock_timestamp()
returning id`;

const { DATABASE_URL, PROVIDER_A_WEBHOOK_SECRET = "", PORT, POOL_SIZE } = process.env;
const pool = new pg.Pool({
  connectionString: DATABASE_URL as string,
  max: Number(POOL_SIZE),
  idleTimeoutMillis: 1_000,
});

const server = createServer(async (request, response) => {
  if (request.url === "/api/ready") return answer(response, 200, { status: "ready" });
  try {
    await receive(request, response);
  } catch (error) {
    process.stderr.write(`${(error as Error).stack}\n`);
    answer(response, 500, { error: "Processing failed" });
  }
});
server.listen(Number(PORT), "127.0.0.1");
process.on("SIGTERM", () => process.exit(0));

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const signed = {
    rawBody: Buffer.concat(chunks),
    header: (name: string) => request.headers[name] as string | undefined,
  };
  const problem = stripe.verify(signed, {
    secrets: [PROVIDER_A_WEBHOOK_SECRET],
    nowSeconds: Date.now() / 1000,
    toleranceSeconds: 300,
  });
  if (problem) return answer(response, 400, { error: "Invalid signature" });

  const body = parsePayload(signed.rawBody);
  const { eventId, eventType } = stripe.identify(signed, body);
  const event = stripe.interpret(eventType, body);
  const sold = plans.sold("provider-a", event.items);
  const claimed = await pool.query({
    name: "claim",
    text: CLAIM,
    values: [eventId, eventType, event.occurredAtMicros, signed.rawBody.toString()],
  });
  const claim = claimed.rows[0] as { id: string; claim_no: number } | undefined;
  if (!claim) return answer(response, 200, { received: true, duplicate: true });

  const applied = await pool.query({
    name: "apply",
    text: APPLY,
    values: [
      claim.id,
      claim.claim_no,
      event.providerSubscriptionId,
      event.userId,
      event.customerId,
      sold?.priceId,
      sold?.planId,
      sold?.item.seats,
      event.status,
      event.currentPeriodEnd,
      event.cancelAtPeriodEnd,
      event.occurredAtMicros,
    ],
  });
  if (applied.rowCount !== 1) throw new Error(`event ${eventId} could not be applied`);
  answer(response, 200, { received: true });
}

function answer(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body);
  response.writeHead(status, { "content-type": "application/json", "content-length": text.length });
  response.end(text);
}
