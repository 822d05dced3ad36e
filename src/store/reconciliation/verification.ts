import type { Slot } from "../../domain/slot.ts";
import type { Subscription } from "../../domain/subscriptions/subscription.ts";
import { NIL_UUID } from "../../domain/uuid.ts";
import type { Queryable } from "../database.ts";
import {
  SUBSCRIPTION_COLUMNS,
  type SubscriptionRow,
  toSubscription,
} from "../subscriptions/subscriptions.ts";
import { VERSION } from "./reconciliations.ts";

const PAGE = {
  name: "verification_page",
  text: `
select ${SUBSCRIPTION_COLUMNS} from subscription s
where s.id > $2::uuid and s.provider = $1 and s.provider_subscription_id is not null
order by s.id limit 1000`,
};

/** All subscriptions of a slot that have a provider id, ordered by id. */
export async function* eachVerifiable(database: Queryable, slot: Slot): AsyncGenerator<Subscription> {
  for (let after = NIL_UUID; ; ) {
    const rows = await database.run<SubscriptionRow>(PAGE, [slot, after]);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield* rows.map(toSubscription);
    after = last.id;
  }
}

const SAMPLE = {
  name: "verification_sample",
  text: `
select ${SUBSCRIPTION_COLUMNS} from subscription s
where s.provider = $1 and s.provider_subscription_id is not null
order by random() limit $2::int`,
};

export async function sampleVerifiable(
  database: Queryable,
  slot: Slot,
  count: number,
): Promise<Subscription[]> {
  const rows = await database.run<SubscriptionRow>(SAMPLE, [slot, count]);
  return rows.map(toSubscription);
}

const COUNT = {
  name: "count_verifiable",
  text: "select count(*)::int as count from subscription where provider = $1 and provider_subscription_id is not null",
};

export async function countVerifiable(database: Queryable, slot: Slot): Promise<number> {
  const [row] = await database.run<{ count: number }>(COUNT, [slot]);
  return row?.count ?? 0;
}

const BY_PROVIDER_ID = {
  name: "verification_by_provider_id",
  text: `
select ${SUBSCRIPTION_COLUMNS} from subscription s
where s.provider = $1 and s.provider_subscription_id = any ($2::text[])`,
};

/** Finds them by the provider's ids. */
export async function findByProviderIds(
  database: Queryable,
  slot: Slot,
  providerSubscriptionIds: readonly string[],
): Promise<Map<string, Subscription>> {
  const rows = await database.run<SubscriptionRow>(BY_PROVIDER_ID, [slot, providerSubscriptionIds]);
  return new Map(rows.map((row) => [row.provider_subscription_id as string, toSubscription(row)]));
}

const BY_ID = {
  name: "verification_by_id",
  text: `select ${SUBSCRIPTION_COLUMNS}, ${VERSION} as version from subscription s where s.id = any (array[$1::uuid])`,
};

/** With a version that changes with every event and every correction. */
export async function findVersioned(
  database: Queryable,
  id: string,
): Promise<(Subscription & { version: string }) | null> {
  const [row] = await database.run<SubscriptionRow & { version: string }>(BY_ID, [id]);
  return row === undefined ? null : { ...toSubscription(row), version: row.version };
}

const KNOWN_CUSTOMERS = {
  name: "known_customers",
  text: `
select distinct customer_id as id from subscription
where provider = $1 and customer_id = any ($2::text[]) and user_id is not null`,
};

/** Which of these customers have a subscription, and with it a user. */
export async function findKnownCustomers(
  database: Queryable,
  slot: Slot,
  customerIds: readonly string[],
): Promise<Set<string>> {
  const rows = await database.run<{ id: string }>(KNOWN_CUSTOMERS, [slot, customerIds]);
  return new Set(rows.map(({ id }) => id));
}
