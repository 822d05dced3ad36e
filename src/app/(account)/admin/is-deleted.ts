import { listAuditEntries } from "../../../operations/audit/list-audit-entries.ts";
import { read } from "../../gate/read.ts";
import { refusalOf } from "../../gate/refusal.ts";

/**
 * Whether a deletion was refused because it is done already: by a second click, or by another tab. Any other
 * thing that does not exist has no such entry in the audit log.
 */
export async function isDeleted(
  error: unknown,
  target: { type: "user" | "event_endpoint"; id: string | null },
): Promise<boolean> {
  if (refusalOf(error)?.code !== "not_found") return false;
  const { items } = await read(listAuditEntries, {
    action: `${target.type}.deleted`,
    target: target.id,
    limit: 1,
  });
  return items.length > 0;
}
