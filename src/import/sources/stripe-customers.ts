import { supportedLocale } from "../../domain/locale.ts";
import type { PaymentApi } from "../../domain/providers/payment-api.ts";
import type { Slot } from "../../domain/slot.ts";
import type { Source } from "../run-import.ts";
import type { SourceUser } from "../user-row.ts";

/**
 * Stripe's customers as users: with the `userId` of their metadata as external id, else with the customer's
 * id, by which their subscriptions are found.
 * @param from `account`: see `providerSubscriptions`
 */
export function stripeCustomers(
  slot: Slot,
  {
    listCustomerPage,
    account,
  }: { listCustomerPage: NonNullable<PaymentApi["listCustomerPage"]>; account: string },
): Source<SourceUser> {
  return {
    identity: ["users", "stripe", slot, account],
    read: async (position) => {
      const { customers, next } = await listCustomerPage(position);
      const rows = customers.map(({ id, email, name, locale, userId }) => ({
        fields: { id: null, externalId: userId ?? id, email, name, locale: supportedLocale(locale) },
      }));
      return { rows, next };
    },
  };
}
