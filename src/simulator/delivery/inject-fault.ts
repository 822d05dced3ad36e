import type { ProviderSlot } from "../server/provider-slot.ts";
import { FAULT_KINDS, type Fault, type QueuedEvent } from "../server/state.ts";
import { corruptionKinds } from "./corruption.ts";

/** How long a delayed event is held, and how long one that is reordered waits for a later one. */
const DELAY_MS = 30_000;
const HELD_BACK_MS = 10_000;

/** Applies the enabled faults to an event: at most one of them. */
export function injectFault(event: QueuedEvent, { state, traits, timeScale }: ProviderSlot): QueuedEvent {
  const fault = FAULT_KINDS.find((kind) => hits(state.faults[kind])) ?? null;
  switch (fault) {
    case null:
      return event;
    case "duplicate":
      return { ...event, fault, copies: 1 };
    case "delay":
      return { ...event, fault, dueAtMs: event.dueAtMs + DELAY_MS / timeScale };
    case "reorder":
      return { ...event, fault, isHeldBack: true, dueAtMs: event.dueAtMs + HELD_BACK_MS / timeScale };
    case "drop":
      return { ...event, fault, status: "dropped" };
    case "corrupt": {
      const kinds = corruptionKinds(traits);
      const kind = kinds[Math.floor(Math.random() * kinds.length)] ?? "signature changed";
      return { ...event, fault, corruption: kind };
    }
    default:
      return fault satisfies never;
  }
}

function hits(fault: Fault): boolean {
  if (fault.next > 0) {
    fault.next -= 1;
    return true;
  }
  return Math.random() < fault.share;
}
