import { setTimeout as sleep } from "node:timers/promises";
import { BrokenMeasurement } from "../shared/broken.ts";
import { query } from "../shared/postgres.ts";
import { subscriptionId } from "./signed-events.ts";

/** How to read in a contender's tables what has become of the events. */
export type Ledger = {
  /** A place in the log, `null` where there is none. */
  mark(url: string): Promise<string | null>;
  /** What the log has gained since. */
  since(url: string, mark: string | null): Promise<{ applied: number; other: number } | null>;
  /** Waits until the work that events leave for later is done: it belongs to what they cost. */
  settled(url: string): Promise<void>;
  /** Of each subscription, by its id, the time of the last event applied to it, in seconds. */
  lastEvents(url: string): Promise<Map<string, number>>;
};

export const TOLLGATE_TABLES: Ledger = {
  mark: async (url) => {
    const [row] = await query<{ id: string }>(
      url,
      "select coalesce(max(id), 0)::text as id from webhook_delivery",
    );
    return row?.id ?? "0";
  },
  since: async (url, mark) => {
    const [row] = await query<{ applied: number; other: number }>(
      url,
      `select (count(*) filter (where d.status = 'successful' and a.outcome = 'successful'))::int as applied,
        (count(*) filter (where d.status <> 'successful' or a.outcome is distinct from 'successful'))::int as other
      from webhook_delivery d left join webhook_attempts a on a.delivery_id = d.id and a.claim_no = d.claim_no
      where d.id > $1::bigint`,
      [mark],
    );
    return row ?? null;
  },
  settled: untilRelayed,
  lastEvents: (url) =>
    lastEvents(
      url,
      "select provider_subscription_id as id, (last_event_at_micros / 1000000)::int as at from subscription",
    ),
};

/** Of an earlier commit, whose attempts may be elsewhere. */
export const EARLIER_TABLES: Ledger = {
  ...TOLLGATE_TABLES,
  since: async (url, mark) => {
    const [row] = await query<{ applied: number; other: number }>(
      url,
      `select (count(*) filter (where status = 'successful'))::int as applied,
        (count(*) filter (where status <> 'successful'))::int as other
      from webhook_delivery where id > $1::bigint`,
      [mark],
    );
    return row ?? null;
  },
};

/** `@supabase/stripe-sync-engine`, without a log. */
export const STRIPE_SYNC_TABLES = withoutLog(
  "select id, extract(epoch from last_synced_at)::int as at from stripe.subscriptions",
);

/** `@stripe/sync-engine`, without a log. */
export const SYNC_ENGINE_TABLES = withoutLog(
  "select id, extract(epoch from _last_synced_at)::int as at from stripe.subscriptions",
);

function withoutLog(lastEventsSql: string): Ledger {
  return {
    mark: async () => null,
    since: async () => null,
    settled: async () => {},
    lastEvents: (url) => lastEvents(url, lastEventsSql),
  };
}

const RELAYED_WITHIN_MS = 120_000;

/** Until everything is relayed. Earlier commits lack some of the tables. @throws BrokenMeasurement */
async function untilRelayed(url: string): Promise<void> {
  const tables = await query<{ name: string }>(
    url,
    "select name from unnest(array['outbound_event', 'outbound_change', 'outbound_change_set']) as name where to_regclass(name) is not null",
  );
  if (tables.length === 0) return;
  const open = tables.map(({ name }) =>
    name === "outbound_event"
      ? "exists (select from outbound_event where position is null)"
      : `exists (select from ${name})`,
  );
  for (const giveUpAt = performance.now() + RELAYED_WITHIN_MS; performance.now() < giveUpAt; ) {
    const [row] = await query<{ open: boolean }>(url, `select ${open.join(" or ")} as open`);
    if (!row?.open) return;
    await sleep(50);
  }
  throw new BrokenMeasurement("outbound events are not relayed");
}

async function lastEvents(url: string, text: string): Promise<Map<string, number>> {
  const rows = await query<{ id: string; at: number }>(url, text);
  return new Map(rows.map((row) => [row.id, row.at]));
}

const TRIES = 25;

/**
 * Compares what was acknowledged with what is in the database. Requests that the sender did not wait for may
 * have been taken in or not; all others must have been, once.
 */
export async function assertArrived(
  contender: { databaseUrl: string; ledger: Ledger },
  sent: { handed: number; answered: number; mark: string | null; expected: ReadonlyMap<number, number> },
): Promise<void> {
  const { databaseUrl, ledger } = contender;
  const unanswered = sent.handed - sent.answered;
  let problem = "";
  // The last ones may still be on their way.
  for (let tries = 0; tries < TRIES; tries += 1) {
    problem = "";
    const log = await ledger.since(databaseUrl, sent.mark);
    if (log && log.other > 0) problem = `${log.other} deliveries are not successful`;
    if (log && (log.applied < sent.answered || log.applied > sent.handed)) {
      problem = `${sent.answered} events were acknowledged of ${sent.handed}, ${log.applied} are in the log`;
    }
    const last = await ledger.lastEvents(databaseUrl);
    let behind = 0;
    for (const [index, at] of sent.expected) if (last.get(subscriptionId(index)) !== at) behind += 1;
    if (behind > unanswered) problem = `${behind} subscriptions do not show their last event`;
    if (problem === "") return;
    await sleep(200);
  }
  throw new BrokenMeasurement(problem);
}
