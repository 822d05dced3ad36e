import { listDisputes } from "@polar-sh/sdk/2026-10/services/disputes";
import type { Reversal } from "../../domain/payment.ts";
import { PaymentApiProblem } from "../../domain/payment-api-problem.ts";
import type { ConnectedProvider } from "../outbound/connected-provider.ts";
import { MAX_PAGE_BYTES } from "../outbound/oldest-first.ts";
import { dateAt, listAt, requiredWholeNumber, textAt } from "../outbound/response-fields.ts";
import { beginCall } from "../outbound/send-request.ts";
import { polarClient } from "./client.ts";
import { nextPage } from "./next-page.ts";

/** By the order's id; `null`: the key may not read disputes. */
export type Disputes = ReadonlyMap<string, readonly Reversal[]> | null;

const PAGE_SIZE = 100;

/**
 * Disputes that were opened or have changed since, `null`: all.
 * https://polar.sh/docs/api-reference/disputes/list
 */
export async function disputesSince(provider: ConnectedProvider, since: Date | null): Promise<Disputes> {
  const found = await allDisputes(provider, null);
  if (found === null) return null;
  const disputes = new Map<string, Reversal[]>();
  for (const dispute of found) {
    const changedAt = dateAt(dispute, "modified_at") ?? dateAt(dispute, "created_at");
    if (since !== null && changedAt !== null && changedAt < since) continue;
    const reversal = reversalOf(provider, dispute);
    if (reversal !== null) disputes.set(reversal.of, [...(disputes.get(reversal.of) ?? []), reversal]);
  }
  return disputes;
}

export async function disputesOf(provider: ConnectedProvider, orderId: string): Promise<Disputes> {
  const found = await allDisputes(provider, orderId);
  return found && new Map([[orderId, found.flatMap((dispute) => reversalOf(provider, dispute) ?? [])]]);
}

/** `null`: the key may not read disputes. */
async function allDisputes(provider: ConnectedProvider, orderId: string | null): Promise<unknown[] | null> {
  const disputes: unknown[] = [];
  for (let page = 1; ; page += 1) {
    const client = polarClient(provider, beginCall(provider, { maxBytes: MAX_PAGE_BYTES }));
    const filter = orderId === null ? {} : { order_id: orderId };
    const response = await nullIfForbidden(async () =>
      listDisputes(client)({ ...filter, page, limit: PAGE_SIZE, sorting: ["created_at"] }),
    );
    if (response === null) return null;
    disputes.push(...listAt(response, "items"));
    if (nextPage(provider, response, { page, size: PAGE_SIZE }) === null) return disputes;
  }
}

/** Older keys lack `disputes:read`: what is recorded of disputes is left as it is then. */
async function nullIfForbidden<Result>(call: () => Promise<Result>): Promise<Result | null> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof PaymentApiProblem && ["unauthorized", "missing"].includes(error.failure))
      return null;
    throw error;
  }
}

// An early warning takes no money back, and a prevented dispute was refunded.
const IN_EFFECT = new Set(["needs_response", "under_review", "lost"]);

function reversalOf(provider: ConnectedProvider, dispute: unknown): Reversal | null {
  const [id, of] = [textAt(dispute, "id"), textAt(dispute, "order_id")];
  if (id === null || of === null) return null;
  const isInEffect = IN_EFFECT.has(textAt(dispute, "status") ?? "");
  return { id, of, kind: "dispute", amount: isInEffect ? disputedAmount(provider, dispute) : 0 };
}

function disputedAmount(provider: ConnectedProvider, dispute: unknown): number {
  const hasTax = textAt(dispute, "tax_amount") !== null;
  const tax = hasTax ? requiredWholeNumber(provider, dispute, "tax_amount") : 0;
  return requiredWholeNumber(provider, dispute, "amount") + tax;
}
