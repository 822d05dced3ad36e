import type { Slot } from "../../domain/slot.ts";
import type { Changes } from "../../domain/subscriptions/changes.ts";
import { NIL_UUID } from "../../domain/uuid.ts";
import type { Queryable, Statement } from "../database.ts";

/** A subscription as stored before its provider is asked. */
export type ReconcilableSubscription = {
  id: string;
  provider: Slot;
  providerSubscriptionId: string | null;
  /** Grows with every write: shows whether the row changed in between. */
  version: string;
};

/** Changes with every event and every correction. */
export const VERSION =
  "(extract(epoch from updated_at) * 1000000)::bigint::text || ' ' || coalesce(last_event_at_micros, 0)";

const COLUMNS = `id, provider, provider_subscription_id as "providerSubscriptionId", ${VERSION} as version`;

const FIND = {
  name: "find_reconcilable",
  text: `select ${COLUMNS} from subscription where id = any (array[$1::uuid])`,
};

export async function findReconcilable(
  database: Queryable,
  id: string,
): Promise<ReconcilableSubscription | null> {
  const [row] = await database.run<ReconcilableSubscription>(FIND, [id]);
  return row ?? null;
}

const FIND_BY_PROVIDER_ID = {
  name: "find_reconcilable_by_provider_id",
  text: `select ${COLUMNS} from subscription where provider_subscription_id = $1 and provider = any ($2::text[]) order by id`,
};

/** There may be several, as each slot has its own ids. */
export async function findReconcilableByProviderId(
  database: Queryable,
  providerSubscriptionId: string,
  slots: readonly Slot[],
): Promise<ReconcilableSubscription[]> {
  return database.run<ReconcilableSubscription>(FIND_BY_PROVIDER_ID, [providerSubscriptionId, slots]);
}

/** Which to compare: flagged ones, also recently changed ones, or all that have not ended. */
export type Extent = "out of order" | "recently changed" | "all";

const RECENTLY = "updated_at > clock_timestamp() - interval '2 days'";
/** How many rows one query scans: none may grow with the table. */
const SCAN_SIZE = 5_000;

// An index covers the flagged ones; for the others the table is scanned in steps.
const FIND_NEXT: Record<Extent, Statement> = {
  "out of order": {
    name: "reconcilable_out_of_order",
    text: `
select ${COLUMNS}, provider = any ($2::text[]) as "isSelected"
from subscription where out_of_order and id > $1::uuid order by id limit 500`,
  },
  "recently changed": scanning("reconcilable_recent", `out_of_order or ${RECENTLY}`),
  all: scanning("reconcilable_all", `out_of_order or status <> 'canceled' or ${RECENTLY}`),
};

function scanning(name: string, condition: string): Statement {
  return {
    name,
    text: `
with scanned as materialized (
  select * from subscription where id > $1::uuid order by id limit ${SCAN_SIZE}
), selected as (
  select scanned.*, provider = any ($2::text[]) and (${condition}) as "isSelected", lead(id) over (order by id) is null as "isLast"
  from scanned
)
select ${COLUMNS}, "isSelected" from selected where "isSelected" or "isLast" order by id`,
  };
}

/** All selected subscriptions by id, a few at a time; may include some added meanwhile. */
export async function* eachReconcilable(
  database: Queryable,
  extent: Extent,
  slots: readonly Slot[],
): AsyncGenerator<ReconcilableSubscription> {
  type Row = ReconcilableSubscription & { isSelected: boolean };
  for (let after = NIL_UUID; ; ) {
    const rows: Row[] = await database.run<Row>(FIND_NEXT[extent], [after, slots]);
    const last = rows.at(-1);
    if (last === undefined) return;
    for (const { isSelected, ...row } of rows) if (isSelected) yield row;
    after = last.id;
  }
}

export type Reconciliation = {
  subscriptionId: string;
  /** The command line; the server's own jobs, the nightly run too; an administrator. */
  by: "operator" | "server" | { administratorId: string };
  changes: Changes;
  /** Why an administrator dismissed it; `null`: it was compared. */
  reason?: string | null;
};

const INSERT = {
  name: "insert_reconciliation",
  text: `
insert into reconciliation (subscription_id, by, user_id, changes, reason)
values ($1::uuid, $2, $3, $4::json, $5)`,
};

/** Records what a comparison has changed, in the same transaction. */
export async function insertReconciliation(
  transaction: Queryable,
  { subscriptionId, by, changes, reason = null }: Reconciliation,
): Promise<void> {
  const [actor, userId] = typeof by === "string" ? [by, null] : ["administrator", by.administratorId];
  await transaction.run(INSERT, [subscriptionId, actor, userId, JSON.stringify(changes), reason]);
}

const INSERT_ALL = {
  name: "insert_reconciliations",
  text: `
insert into reconciliation (subscription_id, by, changes)
select (comparison ->> 'subscriptionId')::uuid, 'operator', comparison -> 'changes'
from json_array_elements($1::json) as listed (comparison)`,
};

/** The same for several comparisons of the command line. */
export async function insertReconciliations(
  transaction: Queryable,
  comparisons: readonly { subscriptionId: string; changes: Changes }[],
): Promise<void> {
  await transaction.run(INSERT_ALL, [JSON.stringify(comparisons)]);
}
