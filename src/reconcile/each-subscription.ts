import type { PaymentEvent } from "../domain/events/payment-event.ts";
import type { PaymentApi, SubscriptionPage } from "../domain/providers/payment-api.ts";

/** A provider's subscriptions, ended ones too. One that is unreadable is left out, so that it does not hide the others. */
export async function* eachSubscription(
  api: PaymentApi,
  { changedSince }: { changedSince: Date | null },
): AsyncGenerator<PaymentEvent> {
  for (let position: string | null = null; ; ) {
    const page: SubscriptionPage = await api.listSubscriptionPage(position, {
      withEmails: false,
      changedSince,
    });
    for (const { state } of page.subscriptions) if (state !== null) yield state;
    if (page.next === null) return;
    position = page.next;
  }
}
