import { type Command, Option } from "commander";
import type { OUTBOUND_EVENT_TYPES } from "../../domain/outbound/outbound-event.ts";
import { updateEventEndpoint } from "../../operations/event-endpoints/update-endpoint.ts";
import { jsonOption, parsedBy } from "../arguments.ts";
import { conclude } from "../conclude.ts";
import { runAsOperator } from "../run-as-operator.ts";
import type { Terminal } from "../terminal.ts";
import { withRuntime } from "../with-runtime.ts";

type Options = {
  url?: string;
  types?: string;
  description?: string;
  pause?: boolean;
  resume?: boolean;
  rotateSecret?: boolean;
  json?: boolean;
};

export function addUpdate(endpoints: Command, terminal: Terminal, exampleId: string): void {
  endpoints
    .command("update")
    .description(
      "changes, pauses or resumes an endpoint, or rotates its secret; the old one stays valid for 24 hours",
    )
    .argument("<id>", "the endpoint's id, as in the list", parsedBy(updateEventEndpoint.input.shape.id))
    .addOption(new Option("--url <url>", "a public https URL, or one that OUTBOUND_ALLOW allows"))
    .addOption(new Option("--types <types>", "event types, separated by commas"))
    .addOption(new Option("--description <text>", "a note for administrators"))
    .addOption(new Option("--pause", "send nothing until it is resumed").conflicts("resume"))
    .addOption(new Option("--resume", "send again, also after it was disabled"))
    .addOption(new Option("--rotate-secret", "print a new signing secret, shown once"))
    .addOption(jsonOption())
    .addHelpText("after", `\nExample:\n  npm run -s tollgate -- endpoints update ${exampleId} --pause`)
    .action(async (id: string, options: Options, command: Command) => {
      const change = changeIn(options);
      if (Object.keys(change).length === 0)
        command.error(
          "error: nothing to change: expected --url, --types, --description, --pause, --resume or --rotate-secret",
        );
      const endpoint = await withRuntime(terminal, (runtime) =>
        runAsOperator(updateEventEndpoint, runtime, { id, ...change }),
      );
      const { enabled, secret } = endpoint;
      const state = `${id} is ${enabled ? "enabled" : "paused"}`;
      const text = () => (secret === undefined ? state : `${state}\nsigning secret: ${secret}`);
      conclude(terminal, { json: endpoint, text }, options);
    });
}

function changeIn({ url, types, description, pause, resume, rotateSecret }: Options) {
  return {
    ...(url === undefined ? {} : { url }),
    ...(types === undefined ? {} : { types: eventTypesIn(types) }),
    ...(description === undefined ? {} : { description: description.trim() || null }),
    ...(pause || resume ? { enabled: resume === true } : {}),
    ...(rotateSecret ? { rotateSecret } : {}),
  };
}

/** The operation refuses unknown ones. */
export function eventTypesIn(text: string): (typeof OUTBOUND_EVENT_TYPES)[number][] {
  return text.split(",").map((type) => type.trim()) as (typeof OUTBOUND_EVENT_TYPES)[number][];
}
