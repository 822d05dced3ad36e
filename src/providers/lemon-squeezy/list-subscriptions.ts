import type { PaymentEvent } from "../../domain/events/payment-event.ts";
import type { SubscriptionListOptions, SubscriptionPage } from "../../domain/providers/payment-api.ts";
import type { ConnectedProvider } from "../outbound/connected-provider.ts";
import { listedSubscription, readableStates } from "../outbound/list-states.ts";
import { nullIfNotFound } from "../outbound/null-if-not-found.ts";
import { MAX_PAGE_BYTES } from "../outbound/oldest-first.ts";
import { pathSegment } from "../outbound/path-segment.ts";
import { dateAt, listAt, textAt } from "../outbound/response-fields.ts";
import { beginCall } from "../outbound/send-request.ts";
import { nextPage, PAGE_SIZE } from "./next-page.ts";
import { request } from "./requests.ts";
import { lemonSqueezy } from "./webhook.ts";

/**
 * Every status, without the custom data, which only deliveries contain. The API cannot filter by time, so unchanged ones
 * are dropped here. Newest first: one that starts meanwhile shifts the remaining pages, whose first item is then listed
 * twice. https://docs.lemonsqueezy.com/api/subscriptions/list-all-subscriptions
 */
export async function subscriptionPage(
  provider: ConnectedProvider,
  position: string | null,
  { changedSince }: SubscriptionListOptions,
): Promise<SubscriptionPage> {
  const page = Number(position ?? 1);
  const send = beginCall(provider, { maxBytes: MAX_PAGE_BYTES });
  const query = new URLSearchParams({ "page[number]": String(page), "page[size]": String(PAGE_SIZE) });
  const response = await send(request(provider, "GET", `/v1/subscriptions?${query}`));
  const changed = listAt(response, "data").filter(
    (object) => changedSince === null || changedAt(object) >= changedSince.getTime(),
  );
  const subscriptions = changed.map((object) => {
    const email = textAt(object, "attributes", "user_email");
    return listedSubscription(provider, lemonSqueezy, { object, delivery: { data: object }, email });
  });
  const next = nextPage(provider, response, page);
  return { subscriptions, next: next === null ? null : String(next) };
}

/** The list filters by address alone, which the customer has. */
export async function findSubscriptions(
  provider: ConnectedProvider,
  { customerId }: { customerId: string },
): Promise<PaymentEvent[]> {
  const send = beginCall(provider, { maxBytes: MAX_PAGE_BYTES });
  const customer = await nullIfNotFound(async () =>
    send(request(provider, "GET", `/v1/customers/${pathSegment(provider, customerId)}`)),
  );
  const email = textAt(customer, "data", "attributes", "email");
  if (email === null) return [];
  const query = new URLSearchParams({ "filter[user_email]": email, "page[size]": String(PAGE_SIZE) });
  const found = listAt(await send(request(provider, "GET", `/v1/subscriptions?${query}`)), "data");
  const deliveries = found.map((data) => ({ data }));
  return readableStates(provider, lemonSqueezy, deliveries).filter(
    (state) => state.customerId === customerId,
  );
}

/** A change of seats does not update the subscription's own time. One without a time may have changed. */
function changedAt(subscription: unknown): number {
  const times = [
    dateAt(subscription, "attributes", "updated_at"),
    dateAt(subscription, "attributes", "first_subscription_item", "updated_at"),
  ].flatMap((time) => time?.getTime() ?? []);
  return times.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...times);
}
