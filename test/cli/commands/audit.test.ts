import { beforeAll, describe, expect, it } from "vitest";
import { testDatabase } from "../../support/test-database.ts";
import { serverVariables } from "../../support/variables.ts";
import { type Tollgate, tollgateIn } from "../tollgate.ts";

const test = testDatabase(2);
let tollgate: Tollgate;
beforeAll(async () => {
  tollgate = tollgateIn(serverVariables(test.url));
});

describe("audit list", () => {
  it("lists the operator's actions, newest first, by its filters", async () => {
    await tollgate("users", "promote", "user_0@example.com");
    await tollgate("users", "promote", "user_1@example.com");
    const entries = (await tollgate.json("audit", "list")) as { at: string; target: { id: string } }[];
    expect(entries).toMatchObject([
      { action: "user.role_changed", actor: { kind: "operator" }, address: null, target: { id: "user_1" } },
      { action: "user.role_changed", details: { role: "admin" }, target: { id: "user_0" } },
    ]);
    expect(await tollgate.json("audit", "list", "--target", "user_0")).toHaveLength(1);
    expect(await tollgate.json("audit", "list", "--action", "api_key")).toEqual([]);
    const at = entries[0]?.at as string;
    expect(await tollgate.json("audit", "list", "--from", at)).toEqual([entries[0]]);
    expect(await tollgate.json("audit", "list", "--to", at)).toEqual([entries[1]]);
    const { stdout } = await tollgate("audit", "list", "--limit", "1");
    expect(stdout).toMatch(/operator .*user\.role_changed .*user user_1/);
  });

  it("shows which service key has acted", async () => {
    const keyId = "0d4c2f6e-6c3b-4a53-9d0a-3f1f6a0e7b11";
    await test.rows(
      `insert into audit_entry (actor_kind, key_id, address, action, target_type, target_id)
       values ('service-key', $1, '192.0.2.1', 'user.email_changed', 'user', 'user_1')`,
      [keyId],
    );
    const { stdout } = await tollgate("audit", "list", "--actor", keyId);
    expect(stdout.trimEnd().split("\n")).toHaveLength(2);
    expect(stdout).toMatch(new RegExp(`service-key ${keyId} +192\\.0\\.2\\.1 +user\\.email_changed`));
  });

  it("reports an invalid time as wrong usage", async () => {
    expect(await tollgate("audit", "list", "--from", "yesterday")).toMatchObject({ code: 2 });
  });
});
