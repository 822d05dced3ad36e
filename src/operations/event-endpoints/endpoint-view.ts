import { z } from "zod";
import { OUTBOUND_EVENT_TYPES } from "../../domain/outbound/outbound-event.ts";
import { refuse } from "../../domain/refusals/refusal.ts";
import { StorableText } from "../../domain/storable-text.ts";
import { type OutboundAllow, resolveTarget } from "../../outbound/allowed-targets.ts";

export const EndpointId = z.uuid().describe("The endpoint's id.");

/** An endpoint for outbound events, wherever it is shown. Its secret is shown only when it is made. */
export const EventEndpoint = z
  .object({
    id: EndpointId,
    url: z.string().describe("Where events are sent."),
    types: z.array(z.enum(OUTBOUND_EVENT_TYPES)).describe("The types of events that it receives."),
    description: z.string().nullable().describe("A note for administrators."),
    enabled: z.boolean().describe("Whether events are sent to it."),
    createdAt: z.date().describe("When it was created."),
    failingSince: z
      .date()
      .nullable()
      .describe("Since when every attempt has failed; `null`: the last one succeeded."),
    disabledAt: z
      .date()
      .nullable()
      .describe("When it was disabled: it failed for five days or responded with 410."),
  })
  .meta({ id: "EventEndpoint", description: "An endpoint that receives outbound events." });

export const EndpointUrl = StorableText.min(1)
  .max(2048)
  .describe("A public https URL, or one that `OUTBOUND_ALLOW` allows.");

export const EventTypes = z
  .array(z.enum(OUTBOUND_EVENT_TYPES))
  .min(1)
  .max(OUTBOUND_EVENT_TYPES.length)
  .transform((types) => [...new Set(types)])
  .describe("The types of events that it receives.");

export const Description = StorableText.trim().max(200).nullable().describe("A note for administrators.");

/** A name without an address now may have one later: it is checked again at each delivery. @throws Refusal */
export async function assertUrlAllowed(url: string, allow: OutboundAllow): Promise<void> {
  const target = await resolveTarget(url, allow);
  // A parsed URL lacks them: events would be sent to another address than the one that is shown.
  const hasTabOrLineBreak = /[\t\n\r]/.test(url);
  if (hasTabOrLineBreak || ("problem" in target && target.problem !== "unresolved"))
    refuse({ reason: "url_not_allowed", field: "url" });
}
