import type { SimulatedEvent } from "../../../src/simulator/server/start-simulator.ts";
import { SWEEP_EVERY_SECONDS } from "./shop.ts";

/** When the server was killed, and listened again. */
export type Downtime = { fromMs: number; untilMs: number };

/** A sweep leaves events younger than this to their webhooks. */
const LEFT_TO_WEBHOOK_MS = 30_000;

/**
 * By when the server has been told of all these events: the last delivery, or the sweep after the last lost
 * one.
 */
export function toldAtMs(events: readonly SimulatedEvent[]): number {
  return Math.max(0, ...events.map(eventToldAtMs));
}

function eventToldAtMs({ madeAtMs, status, tries }: SimulatedEvent): number {
  if (status === "waiting") return Number.POSITIVE_INFINITY;
  const received = tries.find(({ wasTaken }) => wasTaken);
  if (received) return received.atMs + received.tookMs;
  return madeAtMs + LEFT_TO_WEBHOOK_MS + SWEEP_EVERY_SECONDS * 1_000;
}

/** How long the server ran between two times. */
export function uptimeMs(fromMs: number, untilMs: number, downtimes: readonly Downtime[]): number {
  const down = downtimes.map((downtime) =>
    Math.max(0, Math.min(untilMs, downtime.untilMs) - Math.max(fromMs, downtime.fromMs)),
  );
  return Math.max(0, untilMs - fromMs) - down.reduce((sum, ms) => sum + ms, 0);
}
