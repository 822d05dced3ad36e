import type { PaymentEvent } from "../../domain/events/payment-event.ts";
import type { SubscriptionListOptions, SubscriptionPage } from "../../domain/providers/payment-api.ts";
import type { ConnectedProvider } from "../outbound/connected-provider.ts";
import { listedSubscription, readableStates } from "../outbound/list-states.ts";
import { MAX_PAGE_BYTES } from "../outbound/oldest-first.ts";
import { listAt, textAt } from "../outbound/response-fields.ts";
import { beginCall } from "../outbound/send-request.ts";
import { nextPosition } from "./next-position.ts";
import { get } from "./requests.ts";
import { paddle } from "./webhook.ts";

const PAGE_SIZE = 200;

/**
 * Every status, ordered by id. https://developer.paddle.com/api-reference/subscriptions/list-subscriptions
 */
export async function subscriptionPage(
  provider: ConnectedProvider,
  position: string | null,
  { withEmails }: SubscriptionListOptions,
): Promise<SubscriptionPage> {
  const query = new URLSearchParams({ order_by: "id[ASC]", per_page: String(PAGE_SIZE) });
  if (position !== null) query.set("after", position);
  const send = beginCall(provider, { maxBytes: MAX_PAGE_BYTES });
  const page = await send(get(provider, `/subscriptions?${query}`));
  const objects = listAt(page, "data");
  const emails = withEmails ? await emailsOf(provider, objects) : new Map<string, string>();
  const subscriptions = objects.map((object) => {
    const email = emails.get(textAt(object, "customer_id") ?? "") ?? null;
    return listedSubscription(provider, paddle, { object, delivery: { data: object }, email });
  });
  return { subscriptions, next: nextPosition(provider, page, { size: PAGE_SIZE }) };
}

/** As many ids as fit into an address. */
const CUSTOMERS_AT_ONCE = 50;

/** https://developer.paddle.com/api-reference/customers/list-customers: several ids, separated by commas. */
async function emailsOf(
  provider: ConnectedProvider,
  subscriptions: readonly unknown[],
): Promise<Map<string, string>> {
  const ids = [
    ...new Set(subscriptions.flatMap((subscription) => textAt(subscription, "customer_id") ?? [])),
  ];
  const emails = new Map<string, string>();
  for (let at = 0; at < ids.length; at += CUSTOMERS_AT_ONCE) {
    const idList = ids.slice(at, at + CUSTOMERS_AT_ONCE).join(",");
    const query = new URLSearchParams({
      id: idList,
      per_page: String(CUSTOMERS_AT_ONCE),
      status: "active,archived",
    });
    const send = beginCall(provider, { maxBytes: MAX_PAGE_BYTES });
    for (const customer of listAt(await send(get(provider, `/customers?${query}`)), "data")) {
      const [id, email] = [textAt(customer, "id"), textAt(customer, "email")];
      if (id !== null && email !== null) emails.set(id, email);
    }
  }
  return emails;
}

export async function findSubscriptions(
  provider: ConnectedProvider,
  { customerId }: { customerId: string },
): Promise<PaymentEvent[]> {
  const query = new URLSearchParams({ customer_id: customerId, per_page: String(PAGE_SIZE) });
  const send = beginCall(provider, { maxBytes: MAX_PAGE_BYTES });
  const found = listAt(await send(get(provider, `/subscriptions?${query}`)), "data");
  return readableStates(
    provider,
    paddle,
    found.map((data) => ({ data })),
  );
}
