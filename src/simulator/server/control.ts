import { randomBytes } from "node:crypto";
import { DAY_SECONDS, monthAfter } from "../lifecycle/calendar.ts";
import type { Reversal } from "../lifecycle/reversal.ts";
import { type Clock, lastPeriodEndMs, nextDueMs } from "./move-clock.ts";
import { findPayment } from "./payments.ts";
import type { ProviderSlot } from "./provider-slot.ts";
import { decideDispute, disputePayment, refundPayment } from "./reverse-payment.ts";
import { FAULT_KINDS, type FaultKind, type QueuedEvent, type SimulatedPayment } from "./state.ts";

/** The control page's actions. Text: why one is refused. */
export type ControlCommand =
  | { do: "move clock"; by: ClockStep }
  | { do: "set fault"; slot: ProviderSlot; kind: FaultKind; next: number; share: number }
  | { do: "rotate secret"; slot: ProviderSlot }
  | { do: "enable endpoint"; slot: ProviderSlot }
  | { do: "redeliver"; slot: ProviderSlot; number: number }
  | { do: "redeliver all"; slot: ProviderSlot }
  /** `amount` is in the currency's smallest unit; `null`: all that is left. */
  | { do: "refund"; slot: ProviderSlot; payment: string; amount: number | null }
  | { do: "dispute" | "win dispute" | "lose dispute"; slot: ProviderSlot; payment: string };

/** `next`: to the next due change; a number is in seconds. */
export type ClockStep = "day" | "week" | "month" | "next" | number;

const MAX_NEXT = 1_000;
/** Keeps dates representable, and avoids computing a thousand renewals. */
const MAX_STEP_SECONDS = 5 * 366 * DAY_SECONDS;

export function run(command: ControlCommand, clock: Clock, slots: readonly ProviderSlot[]): string | null {
  switch (command.do) {
    case "move clock": {
      const toMs = targetOf(command.by, clock.nowMs(), slots);
      if (typeof toMs === "string") return toMs;
      clock.moveTo(toMs);
      return null;
    }
    case "set fault": {
      const { slot, kind, next, share } = command;
      if (!FAULT_KINDS.includes(kind)) return `There is no such fault, only ${FAULT_KINDS.join(", ")}.`;
      if (!(Number.isInteger(next) && next >= 0 && next <= MAX_NEXT))
        return `next: a whole number up to ${MAX_NEXT}.`;
      if (!(share >= 0 && share <= 1)) return "share: a number from 0 to 1.";
      slot.state.faults[kind] = { next, share };
      slot.changed();
      return null;
    }
    case "rotate secret":
      command.slot.state.secret = `whsec_${randomBytes(24).toString("base64")}`;
      command.slot.changed();
      return null;
    case "enable endpoint":
      command.slot.state.endpoint = { isDisabled: false, exhaustedInARow: 0 };
      command.slot.changed();
      return null;
    case "redeliver": {
      const { slot, number } = command;
      const event = slot.state.events.find((candidate) => candidate.number === number);
      if (!event) return "There is no such delivery.";
      deliverAgain(slot, event);
      slot.changed();
      return null;
    }
    case "redeliver all":
      for (const event of command.slot.state.events) {
        if (event.status !== "delivered") deliverAgain(command.slot, event);
      }
      command.slot.changed();
      return null;
    case "refund":
    case "dispute":
    case "win dispute":
    case "lose dispute":
      return reverse(command);
    default:
      return command satisfies never;
  }
}

function reverse(
  command: Extract<ControlCommand, { do: "refund" | "dispute" | "win dispute" | "lose dispute" }>,
): string | null {
  const payment = findPayment(command.slot, command.payment);
  if (payment === null) return "There is no such payment.";
  const outcome = reversed(command, payment);
  return typeof outcome === "string" ? outcome : null;
}

function reversed(command: Parameters<typeof reverse>[0], payment: SimulatedPayment): Reversal | string {
  const { slot } = command;
  switch (command.do) {
    case "refund":
      return refundPayment(slot, payment, command.amount);
    case "dispute":
      return disputePayment(slot, payment);
    case "win dispute":
      return decideDispute(slot, payment, "won");
    case "lose dispute":
      return decideDispute(slot, payment, "lost");
    default:
      return command satisfies never;
  }
}

function deliverAgain(slot: ProviderSlot, event: QueuedEvent): void {
  event.status = "waiting";
  event.dueAtMs = slot.nowMs();
  event.isHeldBack = false;
  event.failures = 0;
}

function targetOf(by: ClockStep, nowMs: number, slots: readonly ProviderSlot[]): number | string {
  switch (by) {
    case "day":
      return nowMs + DAY_SECONDS * 1_000;
    case "week":
      return nowMs + 7 * DAY_SECONDS * 1_000;
    case "month":
      return aMonthLater(nowMs, slots);
    case "next":
      return nextDueMs(slots) ?? "Nothing is due: no subscription is running.";
    default:
      if (typeof by === "number" && by >= 0 && by <= MAX_STEP_SECONDS) return nowMs + by * 1_000;
      return "Move the clock by day, week, month, next, or a number of seconds up to five years.";
  }
}

/** Late enough for every monthly subscription to be renewed, whatever day it began on. */
function aMonthLater(nowMs: number, slots: readonly ProviderSlot[]): number {
  const { earliest, latest } = monthAfter(nowMs / 1_000);
  return Math.max(earliest * 1_000, lastPeriodEndMs(slots, latest * 1_000) ?? 0);
}
