import { listDisputes } from "@polar-sh/sdk/2026-10/services/disputes";
import type { Reversal } from "../../domain/payments/payment.ts";
import type { ConnectedProvider } from "../outbound/connected-provider.ts";
import { MAX_PAGE_BYTES } from "../outbound/oldest-first.ts";
import { dateAt, listAt, textAt, wholeNumberAt } from "../outbound/response-fields.ts";
import { beginCall } from "../outbound/send-request.ts";
import { polarClient } from "./client.ts";
import { nextPage, PAGE_SIZE } from "./next-page.ts";
import { nullIfForbidden } from "./null-if-forbidden.ts";

/** By the order's id, `null` for an unreadable one; without a map: the key may not read disputes. */
export type Disputes = ReadonlyMap<string, readonly (Reversal | null)[]> | null;

/**
 * Disputes that were opened or have changed since, `null`: all.
 * https://polar.sh/docs/api-reference/disputes/list
 */
export async function disputesSince(provider: ConnectedProvider, since: Date | null): Promise<Disputes> {
  const found = await allDisputes(provider, null);
  if (found === null) return null;
  const disputes = new Map<string, (Reversal | null)[]>();
  for (const dispute of found) {
    const changedAt = dateAt(dispute, "modified_at") ?? dateAt(dispute, "created_at");
    if (since !== null && changedAt !== null && changedAt < since) continue;
    const of = textAt(dispute, "order_id");
    if (of !== null) disputes.set(of, [...(disputes.get(of) ?? []), reversalOf(dispute, of)]);
  }
  return disputes;
}

export async function disputesOf(provider: ConnectedProvider, orderId: string): Promise<Disputes> {
  const found = await allDisputes(provider, orderId);
  return found && new Map([[orderId, found.map((dispute) => reversalOf(dispute, orderId))]]);
}

/** `null`: the key may not read disputes. */
async function allDisputes(provider: ConnectedProvider, orderId: string | null): Promise<unknown[] | null> {
  const disputes: unknown[] = [];
  for (let page = 1; ; page += 1) {
    const client = polarClient(provider, beginCall(provider, { maxBytes: MAX_PAGE_BYTES }));
    const filter = orderId === null ? {} : { order_id: orderId };
    // What is recorded of disputes is left as it is then.
    const response = await nullIfForbidden(async () =>
      listDisputes(client)({ ...filter, page, limit: PAGE_SIZE, sorting: ["created_at"] }),
    );
    if (response === null) return null;
    disputes.push(...listAt(response, "items"));
    if (nextPage(provider, response, page) === null) return disputes;
  }
}

// An early warning takes no money back, and a prevented dispute was refunded, or was a bank's inquiry that is over. An open
// inquiry cannot be told from a dispute: Polar maps both to the same status.
const IN_EFFECT = new Set(["needs_response", "under_review", "lost"]);

/** `null`: unreadable. */
function reversalOf(dispute: unknown, of: string): Reversal | null {
  const id = textAt(dispute, "id");
  const isInEffect = IN_EFFECT.has(textAt(dispute, "status") ?? "");
  const amount = isInEffect ? disputedAmount(dispute) : 0;
  return id === null || amount === null ? null : { id, of, kind: "dispute", amount };
}

function disputedAmount(dispute: unknown): number | null {
  const amount = wholeNumberAt(dispute, "amount");
  const tax = textAt(dispute, "tax_amount") === null ? 0 : wholeNumberAt(dispute, "tax_amount");
  return amount === null || tax === null ? null : amount + tax;
}
