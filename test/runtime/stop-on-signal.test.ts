import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
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
  stopOnSignal({ stop, endNow: async () => {} }, createLog("silent"));
  process.emit(signal, signal);
  vi.advanceTimersByTime(100);
  process.emit(signal, signal);
  expect(process.exit).not.toHaveBeenCalled();
  stopping.resolve();
  await vi.waitFor(() => expect(process.exit).toHaveBeenCalled());
  expect(process.exit).toHaveBeenCalledExactlyOnceWith(0);
  expect(stop).toHaveBeenCalledOnce();
});

const never = () => new Promise<void>(() => {});

describe.each(["SIGTERM", "SIGINT"] as const)("a later second %s", (signal) => {
  const twice = (endNow: () => Promise<void>) => {
    stopOnSignal({ stop: never, endNow }, createLog("silent"));
    process.emit(signal, signal);
    vi.advanceTimersByTime(1_500);
    process.emit(signal, signal);
  };

  it("ends the process once nothing is left that would outlive it", async () => {
    const ending = Promise.withResolvers<void>();
    twice(() => ending.promise);
    expect(process.exit).not.toHaveBeenCalled();
    ending.resolve();
    await vi.waitFor(() => expect(process.exit).toHaveBeenCalledExactlyOnceWith(1));
  });

  it("waits for that five seconds at most", () => {
    twice(never);
    vi.advanceTimersByTime(5_000);
    expect(process.exit).toHaveBeenCalledExactlyOnceWith(1);
  });

  it("that comes twice at once, as from npm, still waits for that", () => {
    twice(never);
    vi.advanceTimersByTime(100);
    process.emit(signal, signal);
    expect(process.exit).not.toHaveBeenCalled();
  });

  it("is followed by a third that waits for nothing", () => {
    twice(never);
    vi.advanceTimersByTime(1_500);
    process.emit(signal, signal);
    expect(process.exit).toHaveBeenCalledExactlyOnceWith(1);
  });
});

it("goes on stopping in order when SIGHUP comes again later, as from the shell of a terminal", async () => {
  const endNow = vi.fn(async () => {});
  stopOnSignal({ stop: never, endNow }, createLog("silent"));
  process.emit("SIGHUP", "SIGHUP");
  vi.advanceTimersByTime(1_500);
  process.emit("SIGHUP", "SIGHUP");
  expect(endNow).not.toHaveBeenCalled();
});

it("exits with 1 when it cannot stop in order", async () => {
  const stop = () => Promise.reject(new Error("not now"));
  stopOnSignal({ stop, endNow: never }, createLog("silent"));
  process.emit("SIGTERM", "SIGTERM");
  await vi.advanceTimersByTimeAsync(0);
  expect(process.exit).toHaveBeenCalledExactlyOnceWith(1);
});

it.each([
  ["it has stopped in order", "resolve"],
  ["stopping has failed", "reject"],
] as const)("waits for what would outlive the process although %s meanwhile", async (_, settle) => {
  const stopping = Promise.withResolvers<void>();
  const ending = Promise.withResolvers<void>();
  stopOnSignal({ stop: () => stopping.promise, endNow: () => ending.promise }, createLog("silent"));
  process.emit("SIGTERM", "SIGTERM");
  vi.advanceTimersByTime(1_500);
  process.emit("SIGTERM", "SIGTERM");
  stopping[settle]();
  await vi.advanceTimersByTimeAsync(0);
  expect(process.exit).not.toHaveBeenCalled();
  ending.resolve();
  await vi.waitFor(() => expect(process.exit).toHaveBeenCalledExactlyOnceWith(1));
});

it("ends what would outlive the process when it cannot stop in time", async () => {
  const endNow = vi.fn(async () => {});
  stopOnSignal({ stop: never, endNow }, createLog("silent"));
  process.emit("SIGTERM", "SIGTERM");
  vi.advanceTimersByTime(30_000);
  await vi.waitFor(() => expect(process.exit).toHaveBeenCalledExactlyOnceWith(1));
  expect(endNow).toHaveBeenCalledOnce();
});

it("lets what would outlive the process end although the time for stopping in order runs out meanwhile", async () => {
  const ending = Promise.withResolvers<void>();
  stopOnSignal({ stop: never, endNow: () => ending.promise }, createLog("silent"));
  process.emit("SIGTERM", "SIGTERM");
  vi.advanceTimersByTime(29_000);
  process.emit("SIGTERM", "SIGTERM");
  vi.advanceTimersByTime(2_000);
  expect(process.exit).not.toHaveBeenCalled();
  ending.resolve();
  await vi.waitFor(() => expect(process.exit).toHaveBeenCalledExactlyOnceWith(1));
});
