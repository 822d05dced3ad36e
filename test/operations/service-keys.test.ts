import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ServiceKey } from "../../src/domain/callers/caller.ts";
import { PERMISSIONS, type Permission } from "../../src/domain/callers/permission.ts";
import { Refusal, shownReason } from "../../src/domain/refusals/refusal.ts";
import { execute, type Operation } from "../../src/operations/operation.ts";
import { testLimits } from "../support/guarded-app.ts";

const FOLDER = join(import.meta.dirname, "../../src/operations");

/** The contract's table of routes; what is not in it is refused to every service key. */
const PERMISSION_OF: Record<string, Permission> = {
  "users.list": "users:read",
  "users.me": "users:read",
  "users.putExternal": "users:write",
  "subscriptions.list": "subscriptions:read",
  "subscriptions.show": "subscriptions:read",
  "subscriptions.history": "subscriptions:read",
  "subscriptions.current": "subscriptions:read",
  "payments.list": "subscriptions:read",
  "billing.createCheckout": "checkout:write",
  "billing.openPortal": "checkout:write",
  "entitlements.show": "entitlements:read",
  "entitlements.check": "entitlements:read",
  "usage.record": "usage:write",
};

// biome-ignore lint/suspicious/noExplicitAny: each operation has dependencies of its own
const operations: Operation<any>[] = await Promise.all(
  (await readdir(FOLDER, { recursive: true }))
    .filter((name) => name.includes("/") && name.endsWith(".ts") && !name.endsWith("-view.ts"))
    .map(async (name) => Object.values(await import(join(FOLDER, name)))),
).then((modules) =>
  // biome-ignore lint/suspicious/noExplicitAny: as above
  (modules.flat() as any[]).filter((module) => typeof module?.run === "function" && "access" in module),
);

const keyWith = (permissions: readonly Permission[]): ServiceKey => ({
  kind: "service",
  keyId: "key",
  permissions,
  address: "192.0.2.1",
  limit: { limit: 1_000, windowSeconds: 60 },
});

// biome-ignore lint/suspicious/noExplicitAny: as above
async function refusalOf(operation: Operation<any>, permissions: readonly Permission[]) {
  const deps = { limits: testLimits(), observe: null, findNamedUser: async () => null };
  const call = { caller: keyWith(permissions), charges: [] };
  const error = await execute(operation, deps, call, () => ({ user: "nobody" })).catch((thrown) => thrown);
  return error instanceof Refusal ? shownReason(error) : error;
}

describe("every operation and a service key", () => {
  it("agree with the contract's table of permissions", () => {
    expect(operations.length).toBeGreaterThan(50);
    const declared = operations.flatMap(({ name, permission }) => (permission ? [[name, permission]] : []));
    expect(Object.fromEntries(declared)).toMatchObject(PERMISSION_OF);
    const others = declared.filter(([name]) => !((name as string) in PERMISSION_OF));
    // Events and changes of subscriptions, where they are offered.
    for (const [, permission] of others) expect(["events:read", "checkout:write"]).toContain(permission);
  });

  it.each(operations.map((operation) => [operation.name, operation] as const))(
    "%s is refused without its permission",
    async (_name, operation) => {
      const { permission } = operation;
      const without = PERMISSIONS.filter((granted) => granted !== permission);
      if (permission === undefined) {
        expect(await refusalOf(operation, PERMISSIONS)).toEqual({ reason: "forbidden", params: {} });
        return;
      }
      expect(await refusalOf(operation, without)).toEqual({
        reason: "missing_permission",
        params: { permission },
      });
      const { reason } = (await refusalOf(operation, [permission])) as { reason: string };
      expect(["not_found", "invalid_input"]).toContain(reason);
    },
  );
});
