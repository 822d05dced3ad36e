import type { PaymentEvent } from "../../domain/payment-event.ts";
import type { ConnectedProvider } from "../outbound/connected-provider.ts";
import { readableStates } from "../outbound/list-states.ts";
import { MAX_PAGE_BYTES } from "../outbound/oldest-first.ts";
import { beginCall } from "../outbound/send-request.ts";
import { mapStripeErrors, stripeClient } from "./client.ts";
import { stripe } from "./webhook.ts";

const PAGE_SIZE = 100;

/** All of them: Stripe can only filter by creation time. https://docs.stripe.com/api/subscriptions/list */
export async function* listSubscriptions(provider: ConnectedProvider): AsyncGenerator<PaymentEvent> {
  for (let last: string | null = null; ; ) {
    const client = stripeClient(provider, beginCall(provider, { maxBytes: MAX_PAGE_BYTES }));
    const after: { starting_after?: string } = last === null ? {} : { starting_after: last };
    const page = await mapStripeErrors(provider, () =>
      client.subscriptions.list({ status: "all", limit: PAGE_SIZE, ...after }),
    );
    yield* readableStates(provider, stripe, page.data.map(asDelivery));
    last = page.data.at(-1)?.id ?? null;
    if (!page.has_more || last === null) return;
  }
}

export async function findSubscriptions(
  provider: ConnectedProvider,
  { customerId: customer }: { customerId: string },
): Promise<PaymentEvent[]> {
  const client = stripeClient(provider, beginCall(provider, { maxBytes: MAX_PAGE_BYTES }));
  const page = await mapStripeErrors(provider, () =>
    client.subscriptions.list({ customer, status: "all", limit: PAGE_SIZE }),
  );
  return [...readableStates(provider, stripe, page.data.map(asDelivery))];
}

function asDelivery(subscription: object): object {
  return { data: { object: subscription } };
}
