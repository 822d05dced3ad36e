import { UnreadablePayload } from "../domain/payload-problems.ts";
import type { Adapter } from "../providers/adapter.ts";
import type { ClaimedEvent } from "./claimed-event.ts";
import type { Intake } from "./intake.ts";

/** Parses a payload, or says why not: an unreadable payload fails, it is never dropped. */
export function readEvent(
  { log }: Pick<Intake, "log">,
  adapter: Adapter,
  eventType: string,
  body: unknown,
): ClaimedEvent["reading"] {
  try {
    return { event: adapter.interpret(eventType, body) };
  } catch (error) {
    if (error instanceof UnreadablePayload) return { failure: error.failure };
    log.error({ err: error, format: adapter.format }, "interpreting a payload failed");
    return { failure: { reason: "defect" } };
  }
}
