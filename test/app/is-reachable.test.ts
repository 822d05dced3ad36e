import { expect, it, onTestFinished, vi } from "vitest";
import { isReachable } from "../../src/ui/is-reachable.ts";

it("takes a server that does not respond within five seconds for unreachable", async () => {
  onTestFinished(() => {
    vi.unstubAllGlobals();
    vi.restoreAllMocks();
  });
  const timeout = vi.spyOn(AbortSignal, "timeout").mockReturnValue(AbortSignal.abort());
  vi.stubGlobal("fetch", async (_: string, options?: RequestInit) => {
    options?.signal?.throwIfAborted();
    return new Response();
  });
  expect(await isReachable()).toBe(false);
  expect(timeout).toHaveBeenCalledWith(5_000);
});
