import type { Slot } from "../../domain/slot.ts";
import type { Check } from "../../simulator/scenario/expected-state.ts";
import { type DeliveryOutcome, OUTCOMES } from "../../simulator/scenario/stats.ts";
import { facts, printable, style } from "./table.ts";

export type SimulationReport = Record<DeliveryOutcome, number> & {
  run: string;
  seed: number;
  slot: Slot;
  format: string;
  url: string;
  events: number;
  subscriptions: number;
  sent: number;
  retried: number;
  seconds: number;
  eventsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** The kinds of corruption that the server accepted. */
  accepted: string[];
  checked: Check | null;
  /** Why the final state was not checked, or `null`. */
  notChecked: string | null;
};

const SHOWN_MISMATCHES = 5;
/** Shown only when not zero. */
const UNUSUAL = new Set<string>(["ignored", "unavailable"]);

export function simulationText(report: SimulationReport): string {
  const counts = OUTCOMES.filter((outcome) => report[outcome] > 0 || !UNUSUAL.has(outcome));
  const figures = facts(
    [
      ["sent", grouped(report.sent)],
      ...counts.map((outcome) => [outcome, grouped(report[outcome])] as const),
      ...(report.retried > 0 ? [["sent again", grouped(report.retried)] as const] : []),
      ["events/s", grouped(report.eventsPerSecond)],
      ["p50", `${report.p50Ms.toFixed(1)} ms`],
      ["p99", `${report.p99Ms.toFixed(1)} ms`],
    ],
    "right",
  );
  const about = `${report.slot} (${report.format}), run ${report.run}, seed ${report.seed}`;
  return [about, figures, finalState(report)].join("\n\n");
}

/** One sentence, or `null` when everything succeeded. */
export function failureOf(report: SimulationReport): string | null {
  const { failed, unavailable, accepted, checked, notChecked } = report;
  const wrong = [
    ...(failed > 0 ? [`${failed} deliveries failed`] : []),
    ...(unavailable > 0 ? [`${unavailable} deliveries were not accepted`] : []),
    ...(accepted.length > 0
      ? [`${accepted.length} corrupted deliveries were accepted (${[...new Set(accepted)].join(", ")})`]
      : []),
    ...(checked && checked.mismatches.length > 0
      ? [`${checked.mismatches.length} of ${checked.subscriptions} subscriptions are not as expected`]
      : []),
    ...(notChecked ? [`the final state was not checked: ${notChecked}`] : []),
  ];
  return wrong.length > 0 ? wrong.join("; ") : null;
}

function finalState({ checked, notChecked }: SimulationReport): string {
  if (!checked) return `final state not checked: ${notChecked}`;
  const { subscriptions, matching, outOfOrder, mismatches } = checked;
  const late = outOfOrder > 0 ? `, ${grouped(outOfOrder)} marked as out of order` : "";
  const lines = mismatches
    .slice(0, SHOWN_MISMATCHES)
    .map(
      (mismatch) =>
        `  ${mismatch.providerSubscriptionId} of ${mismatch.userId}: ${mismatch.differences.join("; ")}`,
    );
  const more = mismatches.length - lines.length;
  return [
    style(
      mismatches.length > 0 ? "red" : "green",
      `final state: ${grouped(matching)} of ${grouped(subscriptions)} subscriptions as expected${late}`,
    ),
    ...lines.map((line) => printable(line, 500)),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ].join("\n");
}

function grouped(value: number): string {
  return value.toLocaleString("en");
}
