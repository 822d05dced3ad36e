import type { z } from "zod";
import type { listAuditEntries } from "../../operations/audit/list-audit-entries.ts";
import { printable, table } from "./table.ts";
import { inSeconds } from "./times.ts";

type Entry = z.input<typeof listAuditEntries.output>["items"][number];

export function auditTable(entries: readonly Entry[]): string {
  if (entries.length === 0) return "no entries";
  return table(
    ["time", "who", "from", "action", "target", "details"],
    entries.map(({ at, actor, address, action, target, details }) => [
      inSeconds(at),
      printable(whoIs(actor), 60),
      address ?? "-",
      action,
      printable(`${target.type} ${target.id}`, 60),
      printable(JSON.stringify(details), 80),
    ]),
  );
}

function whoIs({ kind, userId, keyId }: Entry["actor"]): string {
  return userId ?? (keyId === null ? kind : `${kind} ${keyId}`);
}
