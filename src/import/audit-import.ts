import { OPERATOR } from "../domain/callers/caller.ts";
import type { Slot } from "../domain/slot.ts";
import { recordAudit } from "../store/audit/record-audit.ts";
import type { Queryable } from "../store/database.ts";
import type { ImportCounts } from "../store/reconciliation/imports.ts";

type ImportedPage = { importId: string; report: ImportCounts; slot?: Slot; notify: boolean };

/** Records a page of an import in the transaction that writes it, unless it changes nothing. */
export function auditImport(
  transaction: Queryable,
  action: "users.imported" | "subscriptions.imported",
  { importId, report: { created, updated }, ...options }: ImportedPage,
): Promise<void>[] {
  if (created + updated === 0) return [];
  const target = { type: "import", id: importId } as const;
  return [recordAudit(transaction, OPERATOR, { action, target, details: { created, updated, ...options } })];
}
