import { type Command, Option } from "commander";
import { noProviderFor } from "../../domain/providers/no-provider.ts";
import { SLOTS, type Slot } from "../../domain/slot.ts";
import type { VerifyReport } from "../../reconcile/verification.ts";
import { verify } from "../../reconcile/verify.ts";
import { jsonOption, wholeNumber } from "../arguments.ts";
import { conclude, DRIFT } from "../conclude.ts";
import { withProgress } from "../output/progress.ts";
import { verifyText } from "../output/verify-text.ts";
import type { Terminal } from "../terminal.ts";
import { withRuntime } from "../with-runtime.ts";

type Options = { slot?: Slot; sample?: number; repair: boolean; notify: boolean; json?: boolean };

export function addVerify(webhooks: Command, terminal: Terminal): void {
  webhooks
    .command("verify")
    .description(
      "compares every subscription and payment with its provider, and reports each field that differs",
    )
    .addOption(new Option("--slot <slot>", "only this slot").choices(SLOTS))
    .addOption(
      new Option(
        "--sample <count>",
        "only this many subscriptions of each slot, at random, with their payments",
      ).argParser(wholeNumber(1, 9_999_999)),
    )
    .option("--repair", "set fields that differ to the provider's values", false)
    .option("--notify", "notify users and administrators of repairs, and emit events", false)
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Exit status: 0 nothing differs, 3 something differs (repaired or not), 1 something could not be checked.

Examples:
  npm run -s tollgate -- webhooks verify
  npm run -s tollgate -- webhooks verify --slot provider-a --sample 500
  npm run -s tollgate -- webhooks verify --repair --json`,
    )
    .action(async (options: Options) => {
      const report = await withRuntime(terminal, (runtime) =>
        withProgress(terminal, (progressed) =>
          verify(runtime, {
            slots: options.slot ? [options.slot] : SLOTS,
            sample: options.sample ?? null,
            repair: options.repair,
            notify: options.notify,
            progressed,
          }),
        ),
      );
      const { checked, drift, repaired, failed } = report;
      const json = { checked, drift, repaired, failed };
      const failure = failureOf(report, options);
      conclude(
        terminal,
        { json, text: () => verifyText(report), failure, exitCode: drift.length > 0 ? DRIFT : 0 },
        options,
      );
    });
}

/** Whatever was found, a comparison that is incomplete has failed; what could not be repaired is reported as drift. */
function failureOf({ failed, isIncomplete, unconfigured }: VerifyReport, { slot }: Options): string | null {
  if (slot !== undefined && unconfigured.includes(slot)) return noProviderFor(slot);
  const [first] = failed;
  if (first === undefined || !isIncomplete) return null;
  const more = failed.length > 1 ? ` (and ${failed.length - 1} more)` : "";
  return `could not be checked or repaired: ${first.providerId ?? first.slot}: ${first.reason}${more}`;
}
