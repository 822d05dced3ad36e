import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createLog } from "../../src/observability/log.ts";
import { stopOnSignal } from "../../src/runtime/stop-on-signal.ts";

const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(process, "exit").mockImplementation(() => undefined as never);
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  for (const signal of SIGNALS) process.removeAllListeners(signal);
});

it.each(SIGNALS)("stops in order when %s comes twice at once, as from timeout and npm", async (signal) => {
  const stopping = Promise.withResolvers<void>();
  const stop = vi.fn(() => stopping.promise);
  stopOnSignal(stop, createLog("silent"));
  process.emit(signal, signal);
  vi.advanceTimersByTime(100);
  process.emit(signal, signal);
  expect(process.exit).not.toHaveBeenCalled();
  stopping.resolve();
  await vi.waitFor(() => expect(process.exit).toHaveBeenCalled());
  expect(process.exit).toHaveBeenCalledExactlyOnceWith(0);
  expect(stop).toHaveBeenCalledOnce();
});

it.each(["SIGTERM", "SIGINT"] as const)("ends at once on a later second %s", (signal) => {
  stopOnSignal(() => new Promise(() => {}), createLog("silent"));
  process.emit(signal, signal);
  vi.advanceTimersByTime(1_500);
  process.emit(signal, signal);
  expect(process.exit).toHaveBeenCalledExactlyOnceWith(1);
});
