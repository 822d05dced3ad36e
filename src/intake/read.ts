import type { Adapter } from "../providers/adapter.ts";
import type { Work } from "./work.ts";

/** What a payload means, or what is wrong with it: a payload that cannot be read fails, it is never dropped. */
export function readEvent(adapter: Adapter, eventType: string, body: unknown): Work["reading"] {
  try {
    return { event: adapter.interpret(eventType, body) };
  } catch (error) {
    return { problem: `payload: ${error instanceof Error ? error.message : String(error)}` };
  }
}
