import type { Subscription } from "../../domain/subscriptions/subscription.ts";
import type { Queryable } from "../database.ts";
import { IS_ADMINISTRATOR } from "../users/bans.ts";

/** A subscription that was switched at its provider to a price that no plan has. */
export type UnknownPrice = {
  subscription: Pick<Subscription, "id" | "provider" | "providerSubscriptionId">;
  priceId: string;
  /** Whether the change flags it. One that is flagged already is notified of once per price. */
  isNewlyFlagged: boolean;
};

const INSERT = {
  name: "notify_unknown_prices",
  text: `
insert into notification (user_id, kind, details)
select u.id, 'price_unknown', given.details
from (
  select details::jsonb as details, is_new, place
  from unnest($1::text[], $2::boolean[]) with ordinality as listed (details, is_new, place)
) given, "user" u
where ${IS_ADMINISTRATOR} and (given.is_new or not exists (
  select from notification n
  where n.user_id = u.id and n.kind = 'price_unknown' and n.details = given.details
))
order by given.place`,
};

/** Notifies administrators, in the transaction that flags the subscriptions. */
export async function notifyUnknownPrices(
  transaction: Queryable,
  prices: readonly UnknownPrice[],
): Promise<void> {
  const details = prices.map(({ subscription, priceId }) =>
    JSON.stringify({
      subscriptionId: subscription.id,
      provider: subscription.provider,
      price: priceId,
      subscription: subscription.providerSubscriptionId ?? "",
    }),
  );
  await transaction.run(INSERT, [details, prices.map(({ isNewlyFlagged }) => isNewlyFlagged)]);
}
