import plans from "../../plans.config.ts";
import type { CancelSubscription } from "../../src/billing/cancel-at-provider.ts";
import type { HoldCheckout } from "../../src/billing/close-on-deletion.ts";
import type { Caller } from "../../src/domain/callers/caller.ts";
import type { PlanCatalog } from "../../src/domain/plans/plan.ts";
import type { Call } from "../../src/operations/call.ts";
import { execute, type Operation } from "../../src/operations/operation.ts";
import { ADAPTERS } from "../../src/providers/registry.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import type { Database } from "../../src/store/database.ts";
import { testLimits } from "../support/guarded-app.ts";

export function session(userId: string, role: "user" | "admin" = "user"): Caller {
  return { kind: "session", userId, role, sessionId: "session", address: "192.0.2.1" };
}

export function apiKey(userId: string, role: "user" | "admin" = "user"): Caller {
  return { kind: "api-key", userId, role, keyId: "key", address: "192.0.2.1" };
}

export const ANONYMOUS: Caller = { kind: "anonymous", address: "192.0.2.1" };

export type TestContext = {
  /** Through the gate, as every surface does. The limits are fresh each time. */
  // biome-ignore lint/suspicious/noExplicitAny: each operation has an output of its own
  call(operation: Operation<any>, caller: Caller, input?: unknown): Promise<any>;
};

/** @param test read with each call: a database that its hook creates later will do */
export function createTestContext(
  test: { database: Database },
  more: {
    cancelSubscription?: CancelSubscription;
    holdCheckout?: HoldCheckout;
    newApiKey?: () => unknown;
    log?: { error(facts: object, message: string): void };
    plans?: PlanCatalog;
  } & Partial<Pick<Runtime, "intake" | "payments">> = {},
): TestContext {
  return {
    call: (operation, caller, input = {}) => {
      const deps = {
        database: test.database,
        plans,
        intake: { adapters: ADAPTERS },
        observe: null,
        limits: testLimits(),
        cancelSubscription: null,
        holdCheckout: null,
        ...more,
      };
      const call: Call = { caller, charges: [] };
      return execute(operation, deps, call, () => input);
    },
  };
}

/** The refusal of a refused call. */
export async function refusalOf(calling: Promise<unknown>): Promise<{ code: unknown; message: string }> {
  try {
    await calling;
  } catch (error) {
    const { code, message } = error as { code: unknown; message: string };
    return { code, message };
  }
  throw new Error("it was not refused");
}
