import type { PaymentEvent } from "../../domain/payment-event.ts";
import type { ConnectedProvider } from "../outbound/connected-provider.ts";
import { readableStates } from "../outbound/list-states.ts";
import { MAX_PAGE_BYTES } from "../outbound/oldest-first.ts";
import { listAt, textAt, valueAt } from "../outbound/response-fields.ts";
import { beginCall } from "../outbound/send-request.ts";
import { get } from "./requests.ts";
import { paddle } from "./webhook.ts";

const PAGE_SIZE = 200;

/** Every status, ordered by id. https://developer.paddle.com/api-reference/subscriptions/list-subscriptions */
export async function* listSubscriptions(provider: ConnectedProvider): AsyncGenerator<PaymentEvent> {
  const query = new URLSearchParams({ order_by: "id[ASC]", per_page: String(PAGE_SIZE) });
  for (;;) {
    const send = beginCall(provider, { maxBytes: MAX_PAGE_BYTES });
    const page = await send(get(provider, `/subscriptions?${query}`));
    const subscriptions = listAt(page, "data");
    yield* states(provider, subscriptions);
    const last = textAt(subscriptions.at(-1), "id");
    if (last === null || valueAt(page, "meta", "pagination", "has_more") !== true) return;
    // The page's `next` is a full URL: only its cursor is used, so that the key is sent only to the configured API.
    query.set("after", last);
  }
}

export async function findSubscriptions(
  provider: ConnectedProvider,
  { customerId }: { customerId: string },
): Promise<PaymentEvent[]> {
  const query = new URLSearchParams({ customer_id: customerId, per_page: String(PAGE_SIZE) });
  const send = beginCall(provider, { maxBytes: MAX_PAGE_BYTES });
  return [...states(provider, listAt(await send(get(provider, `/subscriptions?${query}`)), "data"))];
}

function states(provider: ConnectedProvider, subscriptions: readonly unknown[]): Iterable<PaymentEvent> {
  return readableStates(
    provider,
    paddle,
    subscriptions.map((data) => ({ data })),
  );
}
