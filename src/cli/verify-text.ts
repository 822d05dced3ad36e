import type { VerifyReport } from "../reconcile/verify.ts";
import { printable, style, table } from "./table.ts";

export function verifyText({ checked, drift, repaired, failed, unconfigured }: VerifyReport): string {
  const parts = unconfigured.map((slot) => `${slot}: no payment provider is configured`);
  if (drift.length > 0) {
    parts.push(
      table(
        ["slot", "subscription", "field", "ours", "theirs", "last event"],
        drift.map((one) => [
          one.slot,
          printable(one.providerId, 60),
          one.field,
          value(one.ours),
          style("bold", value(one.theirs)),
          printable(one.lastEventId ?? "-", 60),
        ]),
      ),
    );
  }
  if (failed.length > 0) {
    parts.push(
      table(
        ["slot", "subscription", "problem"],
        failed.map((one) => [one.slot, printable(one.providerId ?? "-", 60), printable(one.reason, 120)]),
      ),
    );
  }
  const differing = new Set(drift.map((one) => `${one.slot} ${one.providerId}`)).size;
  parts.push(
    `checked ${checked}, ${differing} ${differing === 1 ? "differs" : "differ"}, repaired ${repaired}, failed ${failed.length}`,
  );
  return parts.join("\n\n");
}

function value(of: unknown): string {
  return of === null || of === undefined ? "-" : printable(String(of), 60);
}
