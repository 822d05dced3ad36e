import type { PaymentApi } from "../../domain/providers/payment-api.ts";
import type { Slot } from "../../domain/slot.ts";
import type { Mapping } from "../mapping.ts";
import { hashOf, type Source } from "../run-import.ts";
import type { SubscriptionRow } from "../subscription-row.ts";

/**
 * The list of a slot's provider, ended subscriptions too.
 * @param from `account`: which one the API reaches; a position in the list of another means nothing
 */
export function providerSubscriptions(
  slot: Slot,
  { api, account }: { api: Pick<PaymentApi, "listSubscriptionPage">; account: string },
  mapping: Mapping,
): Source<SubscriptionRow> {
  const withEmails = mapping.emails.size > 0;
  return {
    identity: ["subscriptions", slot, "provider", account, identityOf(mapping)],
    read: async (position) => {
      const readAtMicros = Date.now() * 1000;
      const { subscriptions, next } = await api.listSubscriptionPage(position, {
        withEmails,
        changedSince: null,
      });
      return { rows: subscriptions.map((subscription) => ({ ...subscription, readAtMicros })), next };
    },
  };
}

export function identityOf({ customers, emails }: Mapping): string {
  return hashOf([customers, [...emails]]);
}
