import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { closeOnSignal } from "../../src/cli/close-on-signal.ts";

let removeHandlers = () => {};

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(process, "exit").mockImplementation(() => undefined as never);
});

afterEach(() => {
  removeHandlers();
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const never = () => new Promise<void>(() => {});

function send(signal: "SIGHUP" | "SIGINT" | "SIGTERM", afterMs = 0): void {
  vi.advanceTimersByTime(afterMs);
  process.emit(signal, signal);
}

it.each([
  ["SIGHUP", 129],
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)("closes on %s, then exits with %i as a shell reports it", async (signal, code) => {
  const closing = Promise.withResolvers<void>();
  removeHandlers = closeOnSignal(() => closing.promise);
  send(signal);
  // From npm too.
  send(signal, 100);
  expect(process.exit).not.toHaveBeenCalled();
  closing.resolve();
  await vi.waitFor(() => expect(process.exit).toHaveBeenCalledExactlyOnceWith(code));
});

it("waits on a second Ctrl-C only for what would outlive the process, on a third for nothing", async () => {
  const ending = Promise.withResolvers<void>();
  removeHandlers = closeOnSignal(never, () => ending.promise);
  send("SIGINT");
  send("SIGINT", 1_500);
  expect(process.exit).not.toHaveBeenCalled();
  ending.resolve();
  await vi.waitFor(() => expect(process.exit).toHaveBeenCalledExactlyOnceWith(130));
  send("SIGINT", 1_500);
  expect(process.exit).toHaveBeenCalledTimes(2);
});

it("leaves signals alone once it is removed", () => {
  const before = process.listenerCount("SIGINT");
  closeOnSignal(never)();
  expect(process.listenerCount("SIGINT")).toBe(before);
});
