import { describe, expect, it } from "vitest";
import { authenticateLink, newLinkSecret } from "../../src/auth/plugin-link.ts";
import { deletePluginLink, findPluginLink, replacePluginLink } from "../../src/store/keys/plugin-links.ts";
import { testDatabase } from "../support/test-database.ts";

const ADDRESS = "192.0.2.7";

describe("a plugin's secret link", () => {
  const test = testDatabase(5);

  async function linkOf(userId: string, plugin = "renewals"): Promise<string> {
    const { secret, hash } = newLinkSecret();
    await replacePluginLink(test.database, { userId, plugin, hash });
    return secret;
  }

  const ownerBy = async (secret: string, plugin = "renewals") =>
    (await authenticateLink(test.database)(plugin, secret, ADDRESS))?.userId ?? null;

  it("identifies its owner, to its own plugin alone", async () => {
    const secret = await linkOf("user_0");
    expect(await authenticateLink(test.database)("renewals", secret, ADDRESS)).toMatchObject({
      kind: "api-key",
      userId: "user_0",
      role: "user",
      address: ADDRESS,
    });
    expect(await ownerBy(secret, "other")).toBeNull();
    expect(await ownerBy(newLinkSecret().secret)).toBeNull();
  });

  it("stops working once it is replaced or revoked, and no other does", async () => {
    const [first, other] = [await linkOf("user_1"), await linkOf("user_1", "other")];
    const second = await linkOf("user_1");
    expect([await ownerBy(first), await ownerBy(second)]).toEqual([null, "user_1"]);
    await deletePluginLink(test.database, { userId: "user_1", plugin: "renewals" });
    expect([await ownerBy(second), await ownerBy(other, "other")]).toEqual([null, "user_1"]);
  });

  it("does not work while its owner is banned", async () => {
    const secret = await linkOf("user_2");
    await test.rows(`update "user" set banned = true where id = 'user_2'`);
    expect(await ownerBy(secret)).toBeNull();
    await test.rows(`update "user" set ban_expires = now() where id = 'user_2'`);
    expect(await ownerBy(secret)).toBe("user_2");
  });

  it("shows its last use, which neither a new link nor somebody else's has had", async () => {
    const usedAt = async (userId = "user_3") =>
      (await findPluginLink(test.database, { userId, plugin: "renewals" }))?.lastUsedAt ?? null;
    await linkOf("user_4");
    await ownerBy(await linkOf("user_3"));
    expect(await usedAt()).toBeInstanceOf(Date);
    expect(await usedAt("user_4")).toBeNull();
    await linkOf("user_3");
    expect(await usedAt()).toBeNull();
  });
});
