import type { Queryable } from "../database.ts";
import { ID_IN_PAYMENTS } from "../subscriptions/subscription-access.ts";

const OF_USER = {
  name: "charged_currencies_of_user",
  text: `
select s.id, latest.currency
from subscription s
cross join lateral (
  select currency from payment p
  where p.provider = s.provider and p.provider_subscription_id = ${ID_IN_PAYMENTS} and p.status is not null
  order by p.occurred_at desc, p.id limit 1
) latest
where s.user_id = $1 and s.status <> 'canceled'`,
};

/** By the id of each of a user's running subscriptions: the currency of its latest payment, where there is one. */
export async function chargedCurrenciesOfUser(
  database: Queryable,
  userId: string,
): Promise<ReadonlyMap<string, string>> {
  const rows = await database.run<{ id: string; currency: string }>(OF_USER, [userId]);
  return new Map(rows.map(({ id, currency }) => [id, currency]));
}
