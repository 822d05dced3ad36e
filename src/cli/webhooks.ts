import { type Command, Option } from "commander";
import { OPERATOR } from "../domain/caller.ts";
import { DELIVERY_STATUSES, type DeliveryStatus } from "../domain/delivery.ts";
import { SLOTS, type Slot } from "../domain/slot.ts";
import { DeliveryId } from "../operations/webhooks/delivery.ts";
import { replayDelivery } from "../operations/webhooks/replay-delivery.ts";
import { retryDeliveries } from "../operations/webhooks/retry-deliveries.ts";
import { showDelivery } from "../operations/webhooks/show-delivery.ts";
import { accepted, jsonOption, wholeNumber } from "./arguments.ts";
import { conclude } from "./conclude.ts";
import { deliveryDetails, deliveryTable } from "./delivery-text.ts";
import { newestDeliveries } from "./newest-deliveries.ts";
import { addReconcile } from "./reconcile.ts";
import { withRuntime } from "./with-runtime.ts";

export function addWebhooks(program: Command): void {
  const webhooks = program.command("webhooks").description("the log of webhook deliveries");
  addList(webhooks);
  addShow(webhooks);
  addReplay(webhooks);
  addRetry(webhooks);
  addReconcile(webhooks);
}

type Output = { json?: boolean };

function addList(webhooks: Command): void {
  webhooks
    .command("list")
    .description("the newest deliveries, as a table")
    .addOption(new Option("--status <status>", "only those that are").choices(DELIVERY_STATUSES))
    .addOption(new Option("--slot <slot>", "only those of one slot").choices(SLOTS))
    .addOption(
      new Option("--limit <n>", "how many at most, up to 1000").default(20).argParser(wholeNumber(1, 1_000)),
    )
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Examples:
  npm run -s tollgate -- webhooks list
  npm run -s tollgate -- webhooks list --status failed --slot provider-a --limit 100
  npm run -s tollgate -- webhooks list --status failed --json | jq -r '.[].id'`,
    )
    .action(async (options: Output & { status?: DeliveryStatus; slot?: Slot; limit: number }) => {
      const filter = { status: options.status ?? null, provider: options.slot ?? null };
      const deliveries = await withRuntime((runtime) => newestDeliveries(runtime, filter, options.limit));
      conclude({ json: deliveries, text: () => deliveryTable(deliveries) }, options);
    });
}

function addShow(webhooks: Command): void {
  webhooks
    .command("show")
    .description("one delivery with its attempts and its payload")
    .argument("<id>", "its number, as the list shows it", accepted(DeliveryId))
    .addOption(jsonOption())
    .addHelpText("after", "\nExample:\n  npm run -s tollgate -- webhooks show 42")
    .action(async (id: string, options: Output) => {
      const delivery = await withRuntime((runtime) => showDelivery.run(runtime, OPERATOR, { id }));
      conclude({ json: delivery, text: () => deliveryDetails(delivery) }, options);
    });
}

function addReplay(webhooks: Command): void {
  webhooks
    .command("replay")
    .description("processes a delivery again now; the attempt is logged whatever comes of it")
    .argument("<id>", "its number, as the list shows it", accepted(DeliveryId))
    .option("--force", "also when it was successful already", false)
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
One that is being processed is left alone; one that was successful stays so.

Examples:
  npm run -s tollgate -- webhooks replay 42
  npm run -s tollgate -- webhooks replay 42 --force`,
    )
    .action(async (id: string, options: Output & { force: boolean }) => {
      const replay = await withRuntime((runtime) =>
        replayDelivery.run(runtime, OPERATOR, { id, force: options.force }),
      );
      const failure =
        replay.outcome === "failed" ? `the replay of delivery ${id} failed: ${replay.reason}` : null;
      conclude(
        {
          json: replay,
          text: () => `delivery ${id}: ${replay.outcome} (attempt ${replay.attempts})`,
          failure,
        },
        options,
      );
    });
}

function addRetry(webhooks: Command): void {
  webhooks
    .command("retry")
    .description("one pass of the retry job: what is due now, and what a process has left behind")
    .addOption(jsonOption())
    .addHelpText("after", "\nExample:\n  npm run -s tollgate -- webhooks retry")
    .action(async (options: Output) => {
      const { applied, ignored, failed, gaveUp } = await withRuntime(retryDeliveries);
      const text = `applied ${applied}, ignored ${ignored}, failed again ${failed}, given up ${gaveUp}`;
      conclude({ json: { applied, ignored, failed, gaveUp }, text: () => text }, options);
    });
}
