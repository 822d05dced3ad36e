import { listRefunds } from "@polar-sh/sdk/2026-10/services/refunds";
import type { ConnectedProvider } from "../outbound/connected-provider.ts";
import { MAX_PAGE_BYTES } from "../outbound/oldest-first.ts";
import { dateAt, listAt, textAt } from "../outbound/response-fields.ts";
import { beginCall } from "../outbound/send-request.ts";
import { polarClient } from "./client.ts";
import { nextPage, PAGE_SIZE } from "./next-page.ts";
import { nullIfForbidden } from "./null-if-forbidden.ts";

/**
 * The ids of the orders that were refunded since. Newest first: only this order can stop early.
 * https://polar.sh/docs/api-reference/refunds/list
 */
export async function ordersRefundedSince(provider: ConnectedProvider, since: Date): Promise<string[]> {
  const orders: string[] = [];
  for (let page = 1; ; page += 1) {
    const client = polarClient(provider, beginCall(provider, { maxBytes: MAX_PAGE_BYTES }));
    const response = await nullIfForbidden(async () =>
      listRefunds(client)({ page, limit: PAGE_SIZE, sorting: ["-created_at"] }),
    );
    if (response === null) return orders;
    const refunds = listAt(response, "items");
    // One without a time may be new.
    const recent = refunds.filter((refund) => (dateAt(refund, "created_at") ?? since) >= since);
    orders.push(...recent.flatMap((refund) => textAt(refund, "order_id") ?? []));
    const isLast = recent.length < refunds.length;
    if (isLast || nextPage(provider, response, page) === null) return orders;
  }
}
