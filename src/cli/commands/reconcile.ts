import { type Command, InvalidArgumentError, Option } from "commander";
import { OPERATOR } from "../../domain/callers/caller.ts";
import type { Payments } from "../../domain/providers/payment-api.ts";
import { SLOTS, type Slot } from "../../domain/slot.ts";
import { LOOK_BACK_DAYS, type ReconcileReport, reconcile } from "../../reconcile/reconcile.ts";
import { jsonOption } from "../arguments.ts";
import { conclude, DRIFT } from "../conclude.ts";
import { reconcileText } from "../output/reconcile-text.ts";
import type { Terminal } from "../terminal.ts";
import { withRuntime } from "../with-runtime.ts";

type Options = { slot?: Slot; subscription?: string; since?: Date; dryRun: boolean; json?: boolean };

export function addReconcile(webhooks: Command, terminal: Terminal): void {
  webhooks
    .command("reconcile")
    .description("applies missed events, compares subscriptions with their provider and corrects them")
    .addOption(
      new Option("--slot <slot>", "one slot, and all of its subscriptions that have not ended").choices(
        SLOTS,
      ),
    )
    .addOption(
      new Option("--subscription <id>", "one subscription, by our id or the provider's").argParser(parseId),
    )
    .addOption(
      new Option(
        "--since <when>",
        `how far back to search for missed events, e.g. 12h, 3d or 2026-11-01 (default: ${LOOK_BACK_DAYS}d)`,
      ).argParser((text) => parseTime(text, new Date())),
    )
    .option("--dry-run", "show what would change, and change nothing", false)
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Applies missed events first, then compares the subscriptions that are out of order. A dry run that finds something to
correct exits with 3. The delivery log shows each correction with the values before it. Lemon Squeezy lists no events:
the subscriptions that have changed are compared instead.

Examples:
  npm run -s tollgate -- webhooks reconcile --dry-run
  npm run -s tollgate -- webhooks reconcile --slot provider-a --since 3d
  npm run -s tollgate -- webhooks reconcile --subscription sub_1Q2w3e --json`,
    )
    .action(async (options: Options) => {
      const { report, payments } = await withRuntime(terminal, async (runtime) => {
        const report = await reconcile(runtime, {
          slots: options.slot ? [options.slot] : SLOTS,
          subscription: options.subscription ?? null,
          extent: options.slot ? "all" : "out of order",
          since: options.since ?? parseTime(`${LOOK_BACK_DAYS}d`, new Date()),
          dryRun: options.dryRun,
          by: OPERATOR,
          isStopping: () => false,
        });
        return { report, payments: runtime.payments };
      });
      conclude(
        terminal,
        {
          json: report,
          text: () => reconcileText(report),
          failure: failureOf(report, options, payments),
          exitCode: driftStatus(report),
        },
        options,
      );
    });
}

/** Drift: a dry run that would correct a subscription or ingest an event. */
function driftStatus({ dryRun, corrected, slots }: ReconcileReport): number {
  const isMissing = slots.some(({ missed }) => missed !== null && missed.missed > 0);
  const hasChanged = slots.some(
    ({ changed }) => changed !== null && changed.corrected + changed.adopted + changed.payments > 0,
  );
  return dryRun && (corrected.length > 0 || isMissing || hasChanged) ? DRIFT : 0;
}

/**
 * Slots without credentials count only if there are no others, or if a subscription of theirs awaits a
 * comparison.
 */
function failureOf(
  { slots, left }: ReconcileReport,
  { subscription }: Options,
  payments: Payments,
): string | null {
  const problem = slots.find((report) => report.problem !== null && payments[report.slot] !== null)?.problem;
  if (problem) return `the provider cannot be reached: ${problem}`;
  const skipped = slots.filter((report) => payments[report.slot] === null);
  const notCompared =
    skipped.length === slots.length
      ? skipped
      : skipped.filter((report) => left.some((item) => item.slot === report.slot));
  if (notCompared.length > 0)
    return `not compared: ${notCompared.map((report) => report.problem).join("; ")}`;
  const [first] = left;
  return subscription !== undefined && first ? `Nothing was changed: ${first.reason}` : null;
}

function parseId(text: string): string {
  if (text.trim() !== "" && text.length <= 255) return text.trim();
  throw new InvalidArgumentError("Expected an id.");
}

const UNITS = { m: 60, h: 60 * 60, d: 24 * 60 * 60 } as const;
const MAX_DAYS = 90;

/** A duration before now, or a date. */
function parseTime(text: string, now: Date): Date {
  const [, count, unit] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
  const at = unit
    ? new Date(now.getTime() - Number(count) * UNITS[unit as keyof typeof UNITS] * 1000)
    : new Date(/^\d{4}-\d\d-\d\d/.test(text) ? text : Number.NaN);
  const days = (now.getTime() - at.getTime()) / (UNITS.d * 1000);
  if (days >= 0 && days <= MAX_DAYS) return at;
  throw new InvalidArgumentError(
    `Expected a time within the last ${MAX_DAYS} days, e.g. 12h, 3d or 2026-11-01.`,
  );
}
