import type { ReconcileReport, SlotReport } from "../../reconcile/reconcile.ts";
import { printable, style, table } from "./table.ts";

export function reconcileText({ slots, compared, corrected, left, dryRun }: ReconcileReport): string {
  const parts = [slots.map((slot) => slotLine(slot, dryRun)).join("\n")];
  if (corrected.length > 0) {
    parts.push(
      table(
        ["slot", "subscription", "field", "here", "provider"],
        corrected.flatMap((correction) =>
          Object.entries(correction.changes).map(([field, [before, after]], line) => [
            line === 0 ? correction.slot : "",
            line === 0 ? printable(correction.providerSubscriptionId ?? correction.subscriptionId, 60) : "",
            field,
            shownValue(before),
            style("bold", shownValue(after)),
          ]),
        ),
      ),
    );
  }
  if (left.length > 0) {
    parts.push(
      table(
        ["slot", "subscription", "our id", "unchanged, because"],
        left.map((item) => [
          item.slot,
          item.providerSubscriptionId === null ? "" : printable(item.providerSubscriptionId, 60),
          // What "subscriptions dismiss" takes.
          item.subscriptionId,
          printable(item.reason, 120),
        ]),
      ),
    );
  }
  const verb = dryRun ? "would be corrected (dry run: nothing was changed)" : "corrected";
  parts.push(
    `compared ${compared}, ${corrected.length} ${verb}${left.length > 0 ? `, ${left.length} unchanged` : ""}`,
  );
  return parts.filter((part) => part !== "").join("\n\n");
}

function slotLine(report: SlotReport, dryRun: boolean): string {
  const line = eventsLine(report, dryRun);
  if (report.changed === null) return line;
  const { listed, corrected, adopted, payments } = report.changed;
  const compared = `${line}; ${listed} changed subscriptions compared`;
  return dryRun
    ? `${compared}, ${corrected} would be corrected, ${adopted} recorded, and ${payments} payments recorded`
    : `${compared}, ${corrected} corrected, ${adopted} recorded; ${payments} payments recorded`;
}

function eventsLine({ slot, missed, problem }: SlotReport, dryRun: boolean): string {
  if (problem !== null) return `${slot}: ${style("yellow", printable(problem, 300))}`;
  if (missed === null) return `${slot}: one subscription alone, without a search for missed events`;
  const { listed, missed: count, applied, ignored, failed } = missed;
  if (count === 0) return `${slot}: ${listed} events listed, none missed`;
  const became = dryRun ? "" : `: applied ${applied}, ignored ${ignored}, failed ${failed}`;
  return `${slot}: ${listed} events listed, ${count} missed${became}`;
}

function shownValue(value: unknown): string {
  return value === null || value === undefined ? "nothing" : printable(String(value), 60);
}
