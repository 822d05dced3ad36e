import { type Command, Option } from "commander";
import { DELIVERY_STATUSES, type DeliveryStatus } from "../../domain/deliveries/delivery.ts";
import { SLOTS, type Slot } from "../../domain/slot.ts";
import { DeliveryId } from "../../operations/webhooks/delivery-view.ts";
import { retryDeliveries } from "../../operations/webhooks/retry-deliveries.ts";
import { showDelivery } from "../../operations/webhooks/show-delivery.ts";
import { addPageOptions, jsonOption, parsedBy } from "../arguments.ts";
import type { PageOptions } from "../collect-pages.ts";
import { conclude } from "../conclude.ts";
import { deliveryDetails, deliveryTable } from "../output/delivery-text.ts";
import { runAsOperator } from "../run-as-operator.ts";
import type { Terminal } from "../terminal.ts";
import { withRuntime } from "../with-runtime.ts";
import { newestDeliveries } from "./newest-deliveries.ts";
import { addReconcile } from "./reconcile.ts";
import { addReplay } from "./replay.ts";
import { addVerify } from "./verify.ts";

export function addWebhooks(program: Command, terminal: Terminal): void {
  const webhooks = program
    .command("webhooks")
    .description("webhook deliveries: list, show, replay, retry, reconcile, verify");
  addList(webhooks, terminal);
  addShow(webhooks, terminal);
  addReplay(webhooks, terminal);
  addRetry(webhooks, terminal);
  addReconcile(webhooks, terminal);
  addVerify(webhooks, terminal);
}

type Output = { json?: boolean };

function addList(webhooks: Command, terminal: Terminal): void {
  addPageOptions(webhooks.command("list"), 20)
    .description("lists deliveries, newest first")
    .addOption(new Option("--status <status>", "only deliveries with this status").choices(DELIVERY_STATUSES))
    .addOption(new Option("--slot <slot>", "only deliveries of this slot").choices(SLOTS))
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Examples:
  npm run -s tollgate -- webhooks list
  npm run -s tollgate -- webhooks list --status failed --slot provider-a --limit 100
  npm run -s tollgate -- webhooks list --status failed --json | jq -r '.[].id'`,
    )
    .action(async (options: Output & PageOptions & { status?: DeliveryStatus; slot?: Slot }) => {
      const filter = { status: options.status ?? null, provider: options.slot ?? null };
      const { items, nextCursor } = await withRuntime(terminal, (runtime) =>
        newestDeliveries(runtime, filter, options),
      );
      conclude(terminal, { json: items, text: () => deliveryTable(items), nextCursor }, options);
    });
}

function addShow(webhooks: Command, terminal: Terminal): void {
  webhooks
    .command("show")
    .description("shows one delivery with its attempts and its payload")
    .argument("<id>", "its id, as in the list", parsedBy(DeliveryId))
    .addOption(jsonOption())
    .addHelpText("after", "\nExample:\n  npm run -s tollgate -- webhooks show 42")
    .action(async (id: string, options: Output) => {
      const delivery = await withRuntime(terminal, (runtime) => runAsOperator(showDelivery, runtime, { id }));
      conclude(terminal, { json: delivery, text: () => deliveryDetails(delivery) }, options);
    });
}

function addRetry(webhooks: Command, terminal: Terminal): void {
  webhooks
    .command("retry")
    .description("runs the retry job once: processes due deliveries and claims with an expired lease")
    .addOption(jsonOption())
    .addHelpText("after", "\nExample:\n  npm run -s tollgate -- webhooks retry")
    .action(async (options: Output) => {
      const { applied, ignored, failed, gaveUp } = await withRuntime(terminal, (runtime) =>
        runAsOperator(retryDeliveries, runtime, {}),
      );
      const text = `applied ${applied}, ignored ${ignored}, failed again ${failed}, given up ${gaveUp}`;
      conclude(terminal, { json: { applied, ignored, failed, gaveUp }, text: () => text }, options);
    });
}
