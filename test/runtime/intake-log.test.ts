import { expect, it, vi } from "vitest";
import { intakeLog } from "../../src/runtime/intake-log.ts";

it("limits repeated entries, but never one about a subscription or payment", () => {
  const [error, warn] = [vi.fn(), vi.fn()];
  const log = intakeLog({ error, warn, debug: vi.fn() });
  for (let n = 0; n < 30; n += 1) {
    log.warn({ err: new Error("away"), events: n }, "nothing was applied");
    log.error({ err: new Error("refused"), deliveryId: n }, "could not be applied");
    log.error({ providerPaymentId: n }, "refund it");
    log.error({ err: new Error("refused"), providerSubscriptionId: n }, "could not be corrected");
  }
  const written = (message: string) =>
    [...warn.mock.calls, ...error.mock.calls].filter(([, text]) => text === message).length;
  expect([written("nothing was applied"), written("could not be applied")]).toEqual([20, 20]);
  expect([written("refund it"), written("could not be corrected")]).toEqual([30, 30]);
});
