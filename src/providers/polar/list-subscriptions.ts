import { listSubscriptions as list } from "@polar-sh/sdk/2026-10/services/subscriptions";
import type { PaymentEvent } from "../../domain/payment-event.ts";
import type { ConnectedProvider } from "../outbound/connected-provider.ts";
import { readableStates } from "../outbound/list-states.ts";
import { MAX_PAGE_BYTES } from "../outbound/oldest-first.ts";
import { listAt, textAt } from "../outbound/response-fields.ts";
import { beginCall } from "../outbound/send-request.ts";
import { polarClient } from "./client.ts";
import { polar } from "./webhook.ts";

const PAGE_SIZE = 100;

/** Oldest first, so that a subscription that starts meanwhile does not shift the remaining pages. */
export async function* listSubscriptions(provider: ConnectedProvider): AsyncGenerator<PaymentEvent> {
  for (let page = 1; ; page += 1) {
    const client = polarClient(provider, beginCall(provider, { maxBytes: MAX_PAGE_BYTES }));
    const answer = await list(client)({ page, limit: PAGE_SIZE, sorting: ["started_at"] });
    const subscriptions = listAt(answer, "items");
    yield* states(provider, subscriptions);
    if (subscriptions.length === 0 || page >= Number(textAt(answer, "pagination", "max_page"))) return;
  }
}

export async function findSubscriptions(
  provider: ConnectedProvider,
  { customerId }: { customerId: string },
): Promise<PaymentEvent[]> {
  const client = polarClient(provider, beginCall(provider, { maxBytes: MAX_PAGE_BYTES }));
  const answer = await list(client)({ customer_id: customerId, limit: PAGE_SIZE });
  return [...states(provider, listAt(answer, "items"))];
}

function states(provider: ConnectedProvider, subscriptions: readonly unknown[]): Iterable<PaymentEvent> {
  return readableStates(
    provider,
    polar,
    subscriptions.map((data) => ({ data })),
  );
}
