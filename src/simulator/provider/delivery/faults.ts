import { damageKinds } from "../../damage.ts";
import { type Dispatch, FAULT_KINDS, type Fault, type SlotState } from "../state.ts";

/** How long an event is delayed, and how long one that is to be overtaken waits for another one. */
const DELAY_MS = 30_000;
const HELD_BACK_MS = 10_000;

/** An event as the faults that are switched on make it: at most one of them hits. */
export function strike(event: Dispatch, state: SlotState, haste: number): Dispatch {
  if (event.status !== "waiting") return event;
  const fault = FAULT_KINDS.find((kind) => hits(state.faults[kind])) ?? null;
  switch (fault) {
    case null:
      return event;
    case "duplicate":
      return { ...event, fault, copies: 1 };
    case "delay":
      return { ...event, fault, dueAtMs: event.dueAtMs + DELAY_MS / haste };
    case "reorder":
      return { ...event, fault, isHeldBack: true, dueAtMs: event.dueAtMs + HELD_BACK_MS / haste };
    case "drop":
      return { ...event, fault, status: "dropped" };
    case "corrupt": {
      const kinds = damageKinds(state.format);
      return {
        ...event,
        fault,
        damage: kinds[Math.floor(Math.random() * kinds.length)] ?? "signature changed",
      };
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
