import { listSubscriptions as list } from "@polar-sh/sdk/2026-10/services/subscriptions";
import type { PaymentEvent } from "../../domain/events/payment-event.ts";
import type { SubscriptionPage } from "../../domain/providers/payment-api.ts";
import type { ConnectedProvider } from "../outbound/connected-provider.ts";
import { listedSubscription, readableStates } from "../outbound/list-states.ts";
import { MAX_PAGE_BYTES } from "../outbound/oldest-first.ts";
import { listAt, textAt } from "../outbound/response-fields.ts";
import { beginCall } from "../outbound/send-request.ts";
import { polarClient } from "./client.ts";
import { nextPage, PAGE_SIZE } from "./next-page.ts";
import { polar } from "./webhook.ts";

/** Oldest first, so that a subscription that starts meanwhile does not shift the remaining pages. */
export async function subscriptionPage(
  provider: ConnectedProvider,
  position: string | null,
): Promise<SubscriptionPage> {
  const page = Number(position ?? 1);
  const client = polarClient(provider, beginCall(provider, { maxBytes: MAX_PAGE_BYTES }));
  const response = await list(client)({ page, limit: PAGE_SIZE, sorting: ["started_at"] });
  const objects = listAt(response, "items");
  const subscriptions = objects.map((object) => {
    const email = textAt(object, "customer", "email");
    return listedSubscription(provider, polar, { object, delivery: { data: object }, email });
  });
  const next = nextPage(provider, response, page);
  return { subscriptions, next: next === null ? null : String(next) };
}

export async function findSubscriptions(
  provider: ConnectedProvider,
  { customerId }: { customerId: string },
): Promise<PaymentEvent[]> {
  const client = polarClient(provider, beginCall(provider, { maxBytes: MAX_PAGE_BYTES }));
  const response = await list(client)({ customer_id: customerId, limit: PAGE_SIZE });
  return readableStates(
    provider,
    polar,
    listAt(response, "items").map((data) => ({ data })),
  );
}
