import pg from "pg";
import { note } from "../shared/note.ts";
import { type Paced, sendAtPace } from "../shared/pace.ts";
import { query } from "../shared/postgres.ts";
import { openSender } from "../shared/sender.ts";
import { assertArrived, TOLLGATE_TABLES } from "./arrived.ts";
import type { Bench } from "./contender.ts";
import { startTollgate } from "./contenders.ts";
import { expectLast, signedRequest } from "./signed-events.ts";

type Sizes = {
  /** Of the indexes by which the retry job finds its work. */
  openWorkKilobytes: number;
  subscriptionMegabytes: number;
  outboxMegabytes: number;
};

/** Before the snapshot is taken, and minute by minute while it is held. */
export type OldSnapshot = { perSecond: number; seconds: number; before: Minute; minutes: Minute[] };

type Minute = Paced & Sizes;

const PER_SECOND = 1_000;
const MINUTE_SECONDS = 60;

/**
 * Events at a steady pace beside a transaction that holds the oldest snapshot, as a long report or a
 * forgotten session does: PostgreSQL keeps every row version and index entry from then on.
 */
export async function measureOldSnapshot(bench: Bench): Promise<OldSnapshot> {
  const { options } = bench;
  const tollgate = await startTollgate(bench, "tollgate-old-snapshot");
  const reader = new pg.Client({ connectionString: tollgate.databaseUrl });
  await reader.connect();
  let next = options.subscriptions;
  const expected = new Map<number, number>();
  const send = async (seconds: number): Promise<Minute> => {
    const count = PER_SECOND * seconds;
    const requests = Array.from({ length: count }, (_, index) => signedRequest(next + index, options));
    const mark = await TOLLGATE_TABLES.mark(tollgate.databaseUrl);
    const sender = await openSender(tollgate.process.port, options.connections);
    const paced = await sendAtPace(sender, requests, PER_SECOND).finally(() => sender.close());
    expectLast(expected, { first: next, count }, options);
    next += count;
    const sent = { handed: count, answered: count, mark, expected };
    await assertArrived({ databaseUrl: tollgate.databaseUrl, ledger: TOLLGATE_TABLES }, sent);
    return { ...paced, ...(await sizes(tollgate.databaseUrl)) };
  };
  try {
    await send(options.warmUpSeconds);
    const before = await send(MINUTE_SECONDS);
    note(`before: ${shown(before)}`);
    await reader.query("begin isolation level repeatable read");
    await reader.query("select count(*) from webhook_delivery");
    const minutes: Minute[] = [];
    for (let minute = 1; minute * MINUTE_SECONDS <= options.snapshotSeconds; minute += 1) {
      minutes.push(await send(MINUTE_SECONDS));
      note(`minute ${minute}: ${shown(minutes.at(-1) as Minute)}`);
    }
    await reader.query("rollback");
    return { perSecond: PER_SECOND, seconds: options.snapshotSeconds, before, minutes };
  } finally {
    await reader.end();
    await tollgate.stop();
  }
}

function shown({ p50Ms, p99Ms, openWorkKilobytes, subscriptionMegabytes, outboxMegabytes }: Minute): string {
  return `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms; open work ${openWorkKilobytes} KB, subscriptions ${subscriptionMegabytes.toFixed(1)} MB, outbox ${outboxMegabytes.toFixed(1)} MB`;
}

async function sizes(databaseUrl: string): Promise<Sizes> {
  const [row] = await query<Sizes>(
    databaseUrl,
    `select (pg_relation_size('webhook_delivery_failed') + pg_relation_size('webhook_delivery_leased'))::float8 / 1024
       as "openWorkKilobytes",
     pg_total_relation_size('subscription')::float8 / 1e6 as "subscriptionMegabytes",
     (pg_total_relation_size('outbound_change') + pg_total_relation_size('outbound_change_set'))::float8 / 1e6
       as "outboxMegabytes"`,
  );
  return row as Sizes;
}
