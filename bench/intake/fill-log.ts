import { spawn } from "node:child_process";
import { once } from "node:events";
import pg from "pg";
import { BrokenMeasurement } from "../shared/broken.ts";
import { interruption } from "../shared/interruption.ts";
import { FIRST_SECOND, hex8 } from "./signed-events.ts";

/** Deliveries of the past years, as first deliveries leave them. */
export type FillOptions = { rows: number; bodyBytes: number };

const PARALLEL = 2;
const YEARS = 3;
const SUBSCRIPTIONS = 1_000_000;
const FAILED_EVERY = 100_000;
const CHUNK_CHARACTERS = 1024 * 1024;

const COLUMNS = `id, provider, event_id, event_type, format, status, claim_source, claimed_at, received_at, completed_at, occurred_at,
  last_error, payload, first_source, first_outcome, first_duration_ms, first_subscription_id, first_changes`;

/**
 * Loads deliveries with `copy`; the indexes are built afterwards, which takes less time than adding to them.
 */
export async function fillLog(url: string, options: FillOptions): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows: indexes } = await client.query<{ name: string; definition: string }>(
      `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index
       where indrelid = 'webhook_delivery'::regclass and not indisprimary`,
    );
    for (const { name } of indexes) await client.query(`drop index ${name}`);
    const share = Math.ceil(options.rows / PARALLEL);
    const now = Date.now();
    await Promise.all(
      Array.from({ length: PARALLEL }, (_, part) =>
        copy(url, options, now, {
          first: part * share + 1,
          last: Math.min(options.rows, (part + 1) * share),
        }),
      ),
    );
    await client.query("set maintenance_work_mem = '1GB'");
    for (const { definition } of indexes) await client.query(definition);
    await client.query("select setval(pg_get_serial_sequence('webhook_delivery', 'id'), $1::bigint)", [
      options.rows,
    ]);
    await client.query("vacuum analyze");
    await client.query("checkpoint");
  } finally {
    await client.end();
  }
}

/** Through psql: the driver has no `copy`. */
async function copy(url: string, options: FillOptions, now: number, range: { first: number; last: number }) {
  const psql = spawn(
    "psql",
    [
      "--no-psqlrc",
      "--quiet",
      "--set=ON_ERROR_STOP=1",
      "--command",
      `copy webhook_delivery (${COLUMNS}) from stdin`,
      url,
    ],
    { stdio: ["pipe", "ignore", "inherit"], signal: interruption },
  );
  const exited = once(psql, "exit");
  let chunk = "";
  for (let n = range.first; n <= range.last; n += 1) {
    chunk += line(n, options, now);
    if (chunk.length < CHUNK_CHARACTERS && n < range.last) continue;
    if (!psql.stdin.write(chunk)) await Promise.race([once(psql.stdin, "drain"), exited]);
    if (psql.exitCode !== null) break;
    chunk = "";
  }
  psql.stdin.end();
  const [status] = await exited;
  if (status !== 0) throw new BrokenMeasurement(`copy failed: psql exited with ${status}`);
}

/** Subscriptions have random ids, so that those of the load lie among them. */
function spread(subscription: number): string {
  return hex8(Math.imul(subscription, 0x9e3779b1) >>> 0);
}

function line(n: number, { rows, bodyBytes }: FillOptions, now: number): string {
  const millis = now - Math.floor(((rows - n) / rows) * YEARS * 365 * 86_400_000);
  const at = new Date(millis).toISOString();
  const subscription = n % SUBSCRIPTIONS;
  const hex = subscription.toString(16).padStart(12, "0");
  // Just before the ids of the events that are sent, as in a log that has grown.
  const created = FIRST_SECOND - Math.ceil((now - millis) / 1000);
  const eventId = `evt_1${created.toString(16)}${n.toString(36).padStart(14, "0")}`;
  const failed = n % FAILED_EVERY === 0;
  const outcome = failed ? "failed" : "successful";
  const body = `{"id":"${eventId}","type":"customer.subscription.updated","data":{"object":{"id":"sub_past${hex}","status":"active","description":""}}}`;
  const payload = `${body.slice(0, -4)}${"x".repeat(Math.max(0, bodyBytes - body.length))}${body.slice(-4)}`;
  const reason = failed ? "user: unknown" : "\\N";
  return `${n}\tprovider-a\t${eventId}\tcustomer.subscription.updated\tstripe\t${outcome}\tdelivery\t${at}\t${at}\t${at}\t${at}\t${reason}\t${payload}\tdelivery\t${outcome}\t5\t${spread(subscription)}-0000-4000-8000-${hex}\t{"seats":[1,2]}\n`;
}
