import { beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { type Caller, OPERATOR } from "../../src/domain/callers/caller.ts";
import type { Permission } from "../../src/domain/callers/permission.ts";
import { Refusal } from "../../src/domain/refusals/refusal.ts";
import { LimiterUnavailable, type Limits } from "../../src/limits/rate-limit.ts";
import { type Call, charge, isLate } from "../../src/operations/call.ts";
import { listEvents } from "../../src/operations/events/list-events.ts";
import { type AccessLevel, defineOperation, execute, type Gate } from "../../src/operations/operation.ts";
import { openDatabase } from "../../src/store/database.ts";
import { testLimits } from "../support/guarded-app.ts";
import { ANONYMOUS, apiKey, session } from "./test-context.ts";

const SERVICE_KEY: Caller = {
  kind: "service",
  keyId: "key_1",
  permissions: ["users:read"],
  limit: { limit: 3, windowSeconds: 60 },
  address: "192.0.2.1",
};

const CALLERS = {
  nobody: ANONYMOUS,
  user: session("user_1"),
  key: apiKey("user_1"),
  admin: session("user_2", "admin"),
  adminKey: apiKey("user_2", "admin"),
  adminWithoutFactor: { ...session("user_2", "admin"), needsTwoFactor: true } as Caller,
  serviceKey: SERVICE_KEY,
  operator: OPERATOR,
};

/** Whoever the operation has run for. */
let ranFor: Caller[];
beforeEach(() => {
  ranFor = [];
});

function operationFor(access: AccessLevel, permission?: Permission) {
  return defineOperation({
    name: "tests.run",
    summary: "Notes its caller",
    access,
    ...(permission === undefined ? {} : { permission }),
    limit: access === "service" ? "service-key" : "api",
    input: z.strictObject({ text: z.string().optional() }),
    reasons: [],
    output: z.null(),
    run: async (_deps, caller) => {
      ranFor.push(caller);
      return null;
    },
  });
}

const callBy = (caller: Caller, more: Partial<Call> = {}): Call => ({ caller, charges: [], ...more });

/** The reason of a refusal; `ok` for a call that has run. */
async function outcomeOf(calling: Promise<unknown>): Promise<string> {
  try {
    await calling;
    return "ok";
  } catch (error) {
    if (error instanceof Refusal) return error.reason;
    throw error;
  }
}

const gate = (more: Partial<Gate> = {}): Gate => ({ limits: testLimits(), observe: null, ...more });

describe("access", () => {
  const anyPerson = { nobody: "unauthorized", user: "ok", key: "ok", admin: "ok", adminKey: "ok" };
  const refused = {
    nobody: "unauthorized",
    user: "forbidden",
    key: "forbidden",
    admin: "forbidden",
    adminKey: "forbidden",
    adminWithoutFactor: "forbidden",
    serviceKey: "forbidden",
    operator: "forbidden",
  };
  it.each<[AccessLevel, Record<keyof typeof CALLERS, string>]>([
    ["anyone", { ...refused, ...anyPerson, nobody: "ok", adminWithoutFactor: "ok", operator: "ok" }],
    ["person", { ...refused, ...anyPerson, adminWithoutFactor: "ok", operator: "ok" }],
    [
      "session",
      {
        ...refused,
        ...anyPerson,
        key: "session_required",
        adminKey: "session_required",
        adminWithoutFactor: "ok",
        operator: "ok",
      },
    ],
    ["admin", { ...refused, admin: "ok", adminWithoutFactor: "two_factor_required", operator: "ok" }],
    ["operator", { ...refused, operator: "ok" }],
    ["service", refused],
  ])("of %s lets in whom it names, before anything is charged or read", async (access, expected) => {
    for (const [name, caller] of Object.entries(CALLERS)) {
      const call = callBy(caller);
      let isRead = false;
      const calling = execute(operationFor(access), gate(), call, () => {
        isRead = true;
        return {};
      });
      const outcome = await outcomeOf(calling);
      expect([name, outcome]).toEqual([name, expected[name as keyof typeof CALLERS]]);
      expect([name, isRead]).toEqual([name, outcome === "ok"]);
      const isCharged = outcome === "ok" && name !== "operator";
      expect([name, call.charges.map(({ scope }) => scope)]).toEqual([name, isCharged ? ["api"] : []]);
    }
    expect(ranFor).toHaveLength(Object.values(expected).filter((outcome) => outcome === "ok").length);
  });

  it("is a service key's own for an operation of service keys, else that of the user whom it names", async () => {
    const findNamedUser = async () => "user_3";
    const run = (access: AccessLevel, permission: Permission, input: object) =>
      outcomeOf(
        execute(operationFor(access, permission), gate({ findNamedUser }), callBy(SERVICE_KEY), () => input),
      );
    expect(await run("service", "users:read", {})).toBe("ok");
    expect(await run("session", "users:read", { user: "user_3" })).toBe("ok");
    expect(await run("person", "users:read", {})).toBe("invalid_input");
    expect(await run("service", "users:write", {})).toBe("missing_permission");
    expect(await run("person", "users:write", { user: "user_3" })).toBe("missing_permission");
    const { keyId, address } = SERVICE_KEY as Extract<Caller, { kind: "service" }>;
    expect(ranFor).toEqual([
      SERVICE_KEY,
      { kind: "on-behalf", userId: "user_3", role: "user", keyId, address },
    ]);
  });

  it("is checked again for whoever the caller is once a late input has arrived", async () => {
    const run = (again: Caller, atMs: number) => {
      const identified = { atMs, again: async () => again };
      const call = callBy(CALLERS.admin, { identified });
      return outcomeOf(execute(operationFor("admin"), gate(), call, () => ({})));
    };
    const [late, later] = [performance.now() - 1_000, performance.now() + 600_000];
    expect(await run(CALLERS.user, late)).toBe("forbidden");
    expect(ranFor).toEqual([]);
    expect(await run(CALLERS.admin, late)).toBe("ok");
    expect(await run(CALLERS.user, later)).toBe("ok");
    expect(ranFor).toEqual([CALLERS.admin, CALLERS.admin]);
  });

  it("is not asked for again right after a late input", async () => {
    const identified = { atMs: Number.NEGATIVE_INFINITY, again: async () => CALLERS.user };
    await execute(operationFor("person"), gate(), callBy(CALLERS.user, { identified }), () => ({}));
    expect(identified.atMs).toBeGreaterThan(0);
    expect([isLate(performance.now() + 600_000), isLate(performance.now() - 1_000)]).toEqual([false, true]);
  });
});

describe("a charge", () => {
  const countsOf = ({ charges }: Call) =>
    charges.map(({ scope, limit, remaining, allowed }) => ({ scope, limit, remaining, allowed }));

  it("counts by user with a session or key, by address without one", async () => {
    const limits = testLimits();
    const remainingOf = async (caller: Caller) => {
      const call = callBy(caller);
      await charge("settings", limits, call);
      return call.charges[0]?.remaining;
    };
    const counts = [];
    for (const caller of [CALLERS.user, CALLERS.key, CALLERS.admin, ANONYMOUS])
      counts.push(await remainingOf(caller));
    expect(counts).toEqual([9, 8, 9, 9]);
    expect(await remainingOf({ ...ANONYMOUS, address: "192.0.2.2" } as Caller)).toBe(9);
  });

  it("is none for the operator and for reads of a page; others need limits", async () => {
    const exempt = callBy(CALLERS.user, { isExempt: true });
    for (const call of [callBy(OPERATOR), exempt]) {
      await charge("api", null, call);
      expect(call.charges).toEqual([]);
    }
    await expect(charge("api", null, callBy(CALLERS.user))).rejects.toThrow("needs limits");
  });

  it("above the limit is refused with the limit, and charges nothing", async () => {
    const call = callBy(CALLERS.user);
    const refused = await charge("billing", testLimits(), call, 6).catch((error) => error);
    expect([refused.reason, refused.params, call.charges]).toEqual(["batch_too_large", { max: 5 }, []]);
    await charge("billing", testLimits(), call, 5);
    expect(countsOf(call)).toEqual([{ scope: "billing", limit: 5, remaining: 0, allowed: true }]);
  });

  it("over the limit is refused, and shown with what remains", async () => {
    const limits = testLimits();
    await charge("billing", limits, callBy(CALLERS.user), 4);
    const call = callBy(CALLERS.user);
    const refused = await charge("billing", limits, call, 2).catch((error) => error);
    expect([refused.reason, refused.params]).toEqual([
      "rate_limited",
      { retryAfterSeconds: expect.any(Number) },
    ]);
    expect(countsOf(call)).toEqual([{ scope: "billing", limit: 5, remaining: 1, allowed: false }]);
  });

  it("is refused as unavailable while the shared store does not answer; another error is a defect", async () => {
    const failing = (error: Error): Limits => ({ ...testLimits(), rateLimit: () => Promise.reject(error) });
    const chargedWith = (error: Error) => charge("billing", failing(error), callBy(CALLERS.user));
    expect(await outcomeOf(chargedWith(new LimiterUnavailable()))).toBe("unavailable");
    await expect(chargedWith(new Error("broken"))).rejects.toThrow("broken");
  });

  it("of a service key counts in its own limit alone, once per operation of a request", async () => {
    const limits = testLimits();
    const call = callBy(SERVICE_KEY);
    await charge("rpc", limits, call, 2);
    for (const scope of ["api", "billing"] as const) await charge(scope, limits, call);
    expect(countsOf(call)).toEqual([{ scope: "service-key", limit: 3, remaining: 1, allowed: true }]);
    // A third operation of the same request has not been paid for.
    await charge("api", limits, call);
    expect(countsOf(call).at(-1)).toMatchObject({ remaining: 0, allowed: true });
    expect(await outcomeOf(charge("api", limits, callBy(SERVICE_KEY)))).toBe("rate_limited");
    await expect(charge("service-key", limits, callBy(CALLERS.user))).rejects.toThrow("no limit of its own");
  });
});

it("counts a call as unavailable while the database is away, and only defects as such", async () => {
  const url = "postgres://somebody@127.0.0.1:1/tollgate";
  const database = openDatabase({ url, prepared: true, maxConnections: 1, answerTimeoutMs: 5_000 });
  const observed: string[] = [];
  const observe = (_: string, outcome: string) => void observed.push(outcome);
  const deps = { ...gate({ observe }), database, log: { error: () => {} } };
  const reader: Caller = { ...SERVICE_KEY, permissions: ["events:read"] };
  await expect(execute(listEvents, deps, callBy(reader), () => ({}))).rejects.toThrow("ECONNREFUSED");
  await database.close();
  await expect(
    execute(listEvents, deps, callBy(reader), () => Promise.reject(new Error("broken"))),
  ).rejects.toThrow();
  expect(observed).toEqual(["unavailable", "defect"]);
});
