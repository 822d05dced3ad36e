import { type Command, Option } from "commander";
import {
  listEndpointDeliveries,
  type OutboundDelivery,
} from "../../operations/event-endpoints/list-endpoint-deliveries.ts";
import { addPageOptions, jsonOption, parsedBy } from "../arguments.ts";
import { collectPages, type PageOptions } from "../collect-pages.ts";
import { conclude } from "../conclude.ts";
import { printable, table } from "../output/table.ts";
import { runAsOperator } from "../run-as-operator.ts";
import type { Terminal } from "../terminal.ts";
import { withRuntime } from "../with-runtime.ts";

type Options = PageOptions & { status?: OutboundDelivery["status"]; json?: boolean };

export function addDeliveries(endpoints: Command, terminal: Terminal, exampleId: string): void {
  addPageOptions(endpoints.command("deliveries"), 100)
    .description(
      "lists what was sent to an endpoint, newest first, with its last attempt; with --json, every attempt",
    )
    .argument("<id>", "the endpoint's id, as in the list", parsedBy(listEndpointDeliveries.input.shape.id))
    .addOption(
      new Option("--status <status>", "only deliveries in this state").choices(
        listEndpointDeliveries.input.shape.status.unwrap().unwrap().options,
      ),
    )
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `\nExample:\n  npm run -s tollgate -- endpoints deliveries ${exampleId} --status failed`,
    )
    .action(async (id: string, options: Options) => {
      const { status = null } = options;
      const { items, nextCursor } = await withRuntime(terminal, (runtime) =>
        collectPages(options, (page) =>
          runAsOperator(listEndpointDeliveries, runtime, { id, status, ...page }),
        ),
      );
      conclude(terminal, { json: items, text: () => deliveryTable(items), nextCursor }, options);
    });
}

function deliveryTable(deliveries: readonly OutboundDelivery[]): string {
  if (deliveries.length === 0) return "no deliveries";
  return table(
    ["id", "event", "status", "attempts", "last attempt", "result"],
    deliveries.map(({ id, eventType, status, attempts }) => {
      const last = attempts.at(-1);
      return [
        id,
        eventType,
        status,
        String(attempts.length),
        last?.at.toISOString() ?? "",
        last === undefined ? "" : printable(last.error ?? String(last.responseStatus), 60),
      ];
    }),
  );
}
