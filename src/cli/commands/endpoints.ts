import { type Command, Option } from "commander";
import type { z } from "zod";
import { OUTBOUND_EVENT_TYPES } from "../../domain/outbound/outbound-event.ts";
import { createEventEndpoint } from "../../operations/event-endpoints/create-endpoint.ts";
import type { EventEndpoint } from "../../operations/event-endpoints/endpoint-view.ts";
import { listEventEndpoints } from "../../operations/event-endpoints/list-endpoints.ts";
import { replayEndpointDeliveries } from "../../operations/event-endpoints/replay-deliveries.ts";
import { testEventEndpoint } from "../../operations/event-endpoints/test-endpoint.ts";
import { addPageOptions, jsonOption, parsedBy } from "../arguments.ts";
import { collectPages, type PageOptions } from "../collect-pages.ts";
import { conclude } from "../conclude.ts";
import { printable, style, table } from "../output/table.ts";
import { runAsOperator } from "../run-as-operator.ts";
import type { Terminal } from "../terminal.ts";
import { withRuntime } from "../with-runtime.ts";
import { addDeliveries } from "./endpoint-deliveries.ts";
import { addUpdate, eventTypesIn } from "./update-endpoint.ts";

const { id: endpointId } = testEventEndpoint.input.shape;
const EXAMPLE_ID = "0d4c2f6e-6c3b-4a53-9d0a-3f1f6a0e7b11";

export function addEndpoints(program: Command, terminal: Terminal): void {
  const endpoints = program
    .command("endpoints")
    .description("endpoints that receive signed events: list, create, update, test, deliveries, replay");
  addList(endpoints, terminal);
  addCreate(endpoints, terminal);
  addUpdate(endpoints, terminal, EXAMPLE_ID);
  addTest(endpoints, terminal);
  addDeliveries(endpoints, terminal, EXAMPLE_ID);
  addReplay(endpoints, terminal);
}

function addList(endpoints: Command, terminal: Terminal): void {
  addPageOptions(endpoints.command("list"), 100)
    .description("lists the endpoints, oldest first")
    .addOption(jsonOption())
    .addHelpText("after", "\nExample:\n  npm run -s tollgate -- endpoints list")
    .action(async (options: PageOptions & { json?: boolean }) => {
      const { items, nextCursor } = await withRuntime(terminal, (runtime) =>
        collectPages(options, (page) => runAsOperator(listEventEndpoints, runtime, page)),
      );
      const text = () =>
        items.length === 0
          ? "no endpoints"
          : table(
              ["id", "url", "types", "state"],
              items.map((endpoint) => [
                endpoint.id,
                printable(endpoint.url, 80),
                endpoint.types.join(", "),
                stateOf(endpoint),
              ]),
            );
      conclude(terminal, { json: items, text, nextCursor }, options);
    });
}

type Endpoint = z.output<typeof EventEndpoint>;

function stateOf({ enabled, failingSince, disabledAt }: Endpoint): string {
  if (enabled) return failingSince === null ? "enabled" : style("red", "failing");
  return disabledAt === null
    ? "paused"
    : style("red", "disabled: it failed for five days or responded with 410");
}

function addCreate(endpoints: Command, terminal: Terminal): void {
  endpoints
    .command("create")
    .description("adds an endpoint and prints its signing secret once")
    .argument("<url>", "a public https URL, or one that OUTBOUND_ALLOW allows")
    .addOption(
      new Option("--types <types>", "event types, separated by commas").default(
        OUTBOUND_EVENT_TYPES.join(","),
        "all",
      ),
    )
    .addOption(new Option("--description <text>", "a note for administrators"))
    .addOption(jsonOption())
    .addHelpText(
      "after",
      "\nExample:\n  npm run -s tollgate -- endpoints create https://example.com/hook --types subscription.started,subscription.ended",
    )
    .action(async (url: string, options: { types: string; description?: string; json?: boolean }) => {
      const types = eventTypesIn(options.types);
      const { description } = options;
      const endpoint = await withRuntime(terminal, (runtime) =>
        runAsOperator(createEventEndpoint, runtime, { url, types, ...(description ? { description } : {}) }),
      );
      const text = () => `${endpoint.id} receives events\nsigning secret: ${endpoint.secret}`;
      conclude(terminal, { json: endpoint, text }, options);
    });
}

function addTest(endpoints: Command, terminal: Terminal): void {
  endpoints
    .command("test")
    .description("sends an example event and prints the endpoint's response")
    .argument("<id>", "the endpoint's id, as in the list", parsedBy(endpointId))
    .addOption(jsonOption())
    .addHelpText("after", `\nExample:\n  npm run -s tollgate -- endpoints test ${EXAMPLE_ID}`)
    .action(async (id: string, options: { json?: boolean }) => {
      const result = await withRuntime(terminal, (runtime) =>
        runAsOperator(testEventEndpoint, runtime, { id }),
      );
      const text = () =>
        result.delivered
          ? `delivered: the endpoint responded with ${result.responseStatus}`
          : "not delivered";
      conclude(terminal, { json: result, text, failure: result.error }, options);
    });
}

function addReplay(endpoints: Command, terminal: Terminal): void {
  endpoints
    .command("replay")
    .description("resends the given deliveries, or all failed ones; never test events")
    .argument("<id>", "the endpoint's id, as in the list", parsedBy(endpointId))
    .argument("[deliveries...]", "ids of deliveries")
    .addOption(jsonOption())
    .addHelpText("after", `\nExample:\n  npm run -s tollgate -- endpoints replay ${EXAMPLE_ID}`)
    .action(async (id: string, deliveryIds: string[], options: { json?: boolean }) => {
      const result = await withRuntime(terminal, (runtime) =>
        runAsOperator(replayEndpointDeliveries, runtime, {
          id,
          ...(deliveryIds.length > 0 ? { deliveryIds } : {}),
        }),
      );
      conclude(
        terminal,
        {
          json: result,
          text: () => replayedText(result.replayed),
          failure: notReplayed(new Set(deliveryIds).size, result.replayed),
        },
        options,
      );
    });
}

function replayedText(replayed: number): string {
  return replayed === 1 ? "1 delivery will be sent again" : `${replayed} deliveries will be sent again`;
}

function notReplayed(given: number, replayed: number): string | null {
  if (replayed >= given) return null;
  return `${given - replayed} of ${given} will not be sent again: pending deliveries are already scheduled; tests, unknown ids and events that are no longer stored cannot be sent`;
}
