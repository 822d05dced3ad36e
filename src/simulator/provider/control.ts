import { randomBytes } from "node:crypto";
import { DAY_SECONDS, intervalsAfter } from "./calendar.ts";
import { type Clock, nextDueMs } from "./move-clock.ts";
import type { Shop } from "./shop.ts";
import { type Dispatch, FAULT_KINDS, type FaultKind } from "./state.ts";

/** What can be done from the control page. A text says why something cannot be. */
export type Command =
  | { do: "move clock"; by: ClockStep }
  | { do: "set fault"; shop: Shop; kind: FaultKind; next: number; share: number }
  | { do: "rotate secret"; shop: Shop }
  | { do: "enable endpoint"; shop: Shop }
  | { do: "redeliver"; shop: Shop; number: number }
  | { do: "redeliver all"; shop: Shop };

/** `next`: to what comes due next; a number is of seconds. */
export type ClockStep = "day" | "week" | "month" | "next" | number;

const MOST_NEXT = 1_000;
/** So that periods can still be written down, and nobody waits for a thousand renewals. */
const FARTHEST_SECONDS = 5 * 366 * DAY_SECONDS;

export function run(command: Command, clock: Clock, shops: readonly Shop[]): string | null {
  switch (command.do) {
    case "move clock": {
      const toMs = targetOf(command.by, clock.nowMs(), shops);
      if (typeof toMs === "string") return toMs;
      clock.moveTo(toMs);
      return null;
    }
    case "set fault": {
      const { shop, kind, next, share } = command;
      if (!FAULT_KINDS.includes(kind)) return `There is no such fault, only ${FAULT_KINDS.join(", ")}.`;
      if (!(Number.isInteger(next) && next >= 0 && next <= MOST_NEXT))
        return `next: a whole number up to ${MOST_NEXT}.`;
      if (!(share >= 0 && share <= 1)) return "share: a number from 0 to 1.";
      shop.state.faults[kind] = { next, share };
      shop.changed();
      return null;
    }
    case "rotate secret":
      command.shop.state.secret = `whsec_${randomBytes(24).toString("base64")}`;
      command.shop.changed();
      return null;
    case "enable endpoint":
      command.shop.state.endpoint = { isDisabled: false, failuresInARow: 0 };
      command.shop.changed();
      return null;
    case "redeliver": {
      const { shop, number } = command;
      const event = shop.state.events.find((one) => one.number === number);
      if (!event) return "There is no such delivery.";
      deliverAgain(shop, event);
      shop.changed();
      return null;
    }
    case "redeliver all":
      for (const event of command.shop.state.events) {
        if (event.status !== "delivered") deliverAgain(command.shop, event);
      }
      command.shop.changed();
      return null;
    default:
      return command satisfies never;
  }
}

function deliverAgain(shop: Shop, event: Dispatch): void {
  event.status = "waiting";
  event.dueAtMs = shop.nowMs();
  event.isHeldBack = false;
  event.failures = 0;
}

function targetOf(by: ClockStep, nowMs: number, shops: readonly Shop[]): number | string {
  switch (by) {
    case "day":
      return nowMs + DAY_SECONDS * 1_000;
    case "week":
      return nowMs + 7 * DAY_SECONDS * 1_000;
    case "month":
      return intervalsAfter(nowMs / 1_000, 1, "month") * 1_000;
    case "next":
      return nextDueMs(shops) ?? "Nothing comes due: no subscription is running.";
    default:
      if (typeof by === "number" && by >= 0 && by <= FARTHEST_SECONDS) return nowMs + by * 1_000;
      return "Move the clock by day, week, month, next, or a number of seconds up to five years.";
  }
}
