import { NO_PROVIDER } from "../../domain/providers/no-provider.ts";
import type { VerifyReport } from "../../reconcile/verification.ts";
import { printable, style, table } from "./table.ts";

export function verifyText({ checked, drift, repaired, failed, unconfigured }: VerifyReport): string {
  const unused = unconfigured.filter((slot) => !failed.some((failure) => failure.slot === slot));
  const parts = unused.map((slot) => `${slot}: ${NO_PROVIDER}`);
  if (drift.length > 0) {
    parts.push(
      table(
        ["slot", "kind", "id", "field", "ours", "theirs", "last event"],
        drift.map((difference) => [
          difference.slot,
          difference.kind,
          printable(difference.providerId, 60),
          difference.field,
          value(difference.ours),
          style("bold", theirsOf(difference)),
          printable(difference.lastEventId ?? "-", 60),
        ]),
      ),
    );
  }
  if (failed.length > 0) {
    parts.push(
      table(
        ["slot", "id", "problem"],
        failed.map((failure) => [
          failure.slot,
          printable(failure.providerId ?? "-", 60),
          printable(failure.reason, 120),
        ]),
      ),
    );
  }
  const differing = new Set(
    drift.map((difference) => `${difference.kind} ${difference.slot} ${difference.providerId}`),
  ).size;
  parts.push(
    `checked ${checked}, ${differing} ${differing === 1 ? "differs" : "differ"}, repaired ${repaired}, failed ${failed.length}`,
  );
  return parts.join("\n\n");
}

/** The provider knows nothing by an id that it does not have: `null` in the report. */
function theirsOf({ providerId, ours, theirs }: VerifyReport["drift"][number]): string {
  return theirs === null && ours === providerId ? "unknown there" : value(theirs);
}

function value(of: unknown): string {
  return of === null || of === undefined ? "-" : printable(String(of), 60);
}
