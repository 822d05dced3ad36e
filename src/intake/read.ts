import type { Adapter } from "../providers/adapter.ts";
import type { ClaimedEvent } from "./claimed-event.ts";

/** Parses a payload, or describes its problem: an unreadable payload fails, it is never dropped. */
export function readEvent(adapter: Adapter, eventType: string, body: unknown): ClaimedEvent["reading"] {
  try {
    return { event: adapter.interpret(eventType, body) };
  } catch (error) {
    return { problem: `payload: ${error instanceof Error ? error.message : String(error)}` };
  }
}
