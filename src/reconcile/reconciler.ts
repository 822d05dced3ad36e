import type { Caller } from "../domain/callers/caller.ts";
import { recordAudit } from "../store/audit/record-audit.ts";
import type { Queryable } from "../store/database.ts";
import type { Reconciliation } from "../store/reconciliation/reconciliations.ts";

/** Who has a subscription compared; `server`: its own jobs, which are not audited. */
export type Reconciler = Caller | "server";

export function reconcilerOf(by: Reconciler): Reconciliation["by"] {
  if (by === "server") return "server";
  if (by.kind === "operator") return "operator";
  if (!("userId" in by)) throw new Error(`a caller of kind "${by.kind}" cannot reconcile`);
  return { administratorId: by.userId };
}

/** In the transaction of the correction. */
export async function auditReconciliation(
  transaction: Queryable,
  by: Reconciler,
  { id, outcome }: { id: string; outcome: "unchanged" | "corrected" | "adopted" },
): Promise<void> {
  if (by === "server") return;
  const target = { type: "subscription", id } as const;
  await recordAudit(transaction, by, { action: "subscription.reconciled", target, details: { outcome } });
}
