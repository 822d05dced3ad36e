import { type Command, Option } from "commander";
import { errorText } from "../../domain/error-text.ts";
import { Refusal } from "../../domain/refusals/refusal.ts";
import { SLOTS, type Slot } from "../../domain/slot.ts";
import { DeliveryId } from "../../operations/webhooks/delivery-view.ts";
import { listDeliveries } from "../../operations/webhooks/list-deliveries.ts";
import { replayDelivery } from "../../operations/webhooks/replay-delivery.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { jsonOption, parsedBy } from "../arguments.ts";
import { collectPages } from "../collect-pages.ts";
import { conclude } from "../conclude.ts";
import { withProgress } from "../output/progress.ts";
import { runAsOperator } from "../run-as-operator.ts";
import type { Terminal } from "../terminal.ts";
import { withRuntime } from "../with-runtime.ts";

type Options = { force: boolean; failed?: boolean; slot?: Slot; json?: boolean };

export function addReplay(webhooks: Command, terminal: Terminal): void {
  webhooks
    .command("replay")
    .description(
      "processes a delivery again now, or all that have failed; each attempt is logged whatever its outcome",
    )
    .argument("[id]", "its id, as in the list", parsedBy(DeliveryId))
    .option("--force", "even if it already succeeded", false)
    .addOption(new Option("--failed", "all failed deliveries, oldest first").conflicts("force"))
    .addOption(
      new Option("--slot <slot>", "with --failed: only deliveries of this slot")
        .choices(SLOTS)
        .conflicts("force"),
    )
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
A delivery that is being processed is refused. One that already succeeded stays successful even if its replay fails.
--failed also replays deliveries that have used up their attempts. If interrupted, run it again to continue.

Examples:
  npm run -s tollgate -- webhooks replay 42
  npm run -s tollgate -- webhooks replay 42 --force
  npm run -s tollgate -- webhooks replay --failed --slot provider-a`,
    )
    .action(async (id: string | undefined, options: Options, command: Command) => {
      if (id === undefined) {
        if (!options.failed) command.error("error: missing required argument 'id', or the option '--failed'");
        return replayFailed(terminal, options);
      }
      if (options.failed || options.slot)
        command.error("error: argument 'id' cannot be used with '--failed' or '--slot'");
      return replayOne(terminal, id, options);
    });
}

async function replayOne(terminal: Terminal, id: string, options: Options): Promise<void> {
  const replay = await withRuntime(terminal, (runtime) =>
    runAsOperator(replayDelivery, runtime, { id, force: options.force }).catch(nameOption),
  );
  const failure = replay.outcome === "failed" ? `the replay of delivery ${id} failed: ${replay.error}` : null;
  const text = () => `delivery ${id}: ${replay.outcome} (attempt ${replay.attempts})`;
  conclude(terminal, { json: replay, text, failure }, options);
}

/** What is a field elsewhere is an option here. */
function nameOption(error: unknown): never {
  if (error instanceof Refusal && error.reason === "delivery_already_successful")
    throw new Error(`Delivery ${error.params.id} already succeeded: pass --force to replay it`);
  throw error;
}

/** `skipped`: claimed or applied by another process, or its payload is gone. */
type Counts = Record<"applied" | "ignored" | "failed" | "skipped", number>;

async function replayFailed(terminal: Terminal, options: Options): Promise<void> {
  const { counts, stop } = await withRuntime(terminal, (runtime) =>
    withProgress(terminal, async (progressed) => {
      const ids = await failedIds(runtime, options.slot ?? null);
      const counts: Counts = { applied: 0, ignored: 0, failed: 0, skipped: 0 };
      // One after the other: events of one subscription stay in the order of their arrival.
      for (const [done, id] of ids.entries()) {
        progressed(done, ids.length);
        try {
          const { outcome } = await runAsOperator(replayDelivery, runtime, { id }).catch(skipRefused);
          counts[outcome] += 1;
        } catch (error) {
          return {
            counts,
            stop: `stopped at delivery ${id}, ${ids.length - done} left: ${errorText(error)}`,
          };
        }
      }
      return { counts, stop: null };
    }),
  );
  const { applied, ignored, failed, skipped } = counts;
  const text = () => `applied ${applied}, ignored ${ignored}, failed again ${failed}, skipped ${skipped}`;
  const failure = stop ?? (failed > 0 ? `${failed} failed again: see webhooks list --status failed` : null);
  conclude(terminal, { json: counts, text, failure }, options);
}

async function failedIds(runtime: Runtime, provider: Slot | null): Promise<string[]> {
  const all = { limit: Number.POSITIVE_INFINITY };
  const { items } = await collectPages(all, async (page) => {
    const { items, nextCursor } = await runAsOperator(listDeliveries, runtime, {
      status: "failed",
      provider,
      ...page,
    });
    return { items: items.map(({ id }) => id), nextCursor };
  });
  return items.reverse();
}

/** Nothing was tried. @throws where the database is unavailable */
function skipRefused(error: unknown): { outcome: "skipped" } {
  if (error instanceof Refusal && (error.code === "conflict" || error.code === "not_found"))
    return { outcome: "skipped" };
  throw error;
}
