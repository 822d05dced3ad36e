import { afterAll, beforeAll, expect, it } from "vitest";
import { type Receiver, startReceiver } from "../../outbound/receiver.ts";
import { addUsers } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { sendRequest } from "../../support/http.ts";
import { createUser, type TestUser } from "../../support/people.ts";
import { describeInBrowser } from "./describe-in-browser.ts";
import { fill, press, section, subscribe } from "./page-actions.ts";
import { type SeededSite, seedSite } from "./seed-site.ts";
import { siteInBrowser } from "./site-in-browser.ts";
import { waitForHydration } from "./wait-for-hydration.ts";

describeInBrowser("an administrator in a browser", () => {
  const { site, visit } = siteInBrowser({ OUTBOUND_ALLOW: "127.0.0.1" });
  let seeded: SeededSite;
  let receiver: Receiver;
  let admin: TestUser;
  beforeAll(async () => {
    receiver = await startReceiver();
    seeded = await seedSite(site);
    admin = seeded.admin;
  }, 180_000);
  afterAll(async () => {
    await receiver?.close();
  });

  const roleOf = async ({ id }: TestUser) =>
    (await site.test.rows<{ role: string }>(`select role from "user" where id = $1`, [id]))[0]?.role;

  it("finds a user while typing, makes them an administrator, and demotes them", async () => {
    const otherUser = await createUser(site.test, "Grace New");
    const page = await visit({ as: admin });
    await page.goto("/admin/users");
    const rows = page.getByRole("table").getByRole("row");
    const search = await waitForHydration(page.getByLabel("Search"));
    await search.pressSequentially("grace");
    await page.waitForURL("/admin/users?search=grace");
    await eventually(() => rows.count(), 2);
    await rows.getByRole("link", { name: "Grace New" }).click();
    await page.getByRole("heading", { level: 1, name: "Grace New" }).waitFor();
    await page.getByLabel("Role").selectOption({ label: "Administrator" });
    await press(page, "Save role");
    await page.getByText("Role saved.").waitFor();
    expect(await roleOf(otherUser)).toBe("admin");

    const theirPage = await visit({ as: otherUser });
    await theirPage.goto("/notifications");
    await theirPage.getByText("You’re now an administrator.").waitFor();
    await theirPage.getByRole("complementary").getByRole("link", { name: "Webhooks" }).waitFor();

    await page.getByLabel("Role").selectOption({ label: "User" });
    await press(page, "Save role");
    await eventually(() => roleOf(otherUser), "user");

    await page.getByRole("complementary").getByRole("link", { name: "Audit log" }).click();
    await page.getByRole("heading", { level: 1, name: "Audit log" }).waitFor();
    const target = await waitForHydration(page.getByLabel("Target ID"));
    await target.fill(otherUser.id);
    await page.waitForURL(`/admin/audit?target=${otherUser.id}`);
    const changes = page.getByRole("row").filter({ hasText: "user.role_changed" });
    await eventually(() => changes.count(), 2);
    await page.getByLabel("Action").fill("api_key");
    await page.getByText("No entries found").waitFor();
    await page.getByRole("link", { name: "Show all entries" }).click();
    await page.waitForURL("/admin/audit");
  });

  it("deletes a user after typing the email address, but not the last administrator", async () => {
    const deletedUser = await createUser(site.test, "Somebody Gone");
    const page = await visit({ as: admin });
    await page.goto(`/admin/users/${deletedUser.id}`);
    const confirmation = page.getByLabel("Email address of this account");
    await confirmation.fill(admin.email);
    await press(page, "Delete account");
    await page.getByText("This is not the email address of the account.").first().waitFor();
    await confirmation.fill(deletedUser.email);
    await press(page, "Delete account");
    await page.getByText("Account deleted.").waitFor();
    expect(await roleOf(deletedUser)).toBeUndefined();

    await page.goto(`/admin/users/${admin.id}`);
    await page.getByLabel("Role").selectOption({ label: "User" });
    await press(page, "Save role");
    await page
      .getByText("The last administrator can’t be demoted or deleted. Promote somebody else first.")
      .first()
      .waitFor();
    await page.goto("/settings");
    await page.getByLabel("Email address of this account").fill(admin.email);
    await press(page, "Delete account permanently");
    await page
      .getByText("The last administrator can’t be demoted or deleted. Promote somebody else first.")
      .first()
      .waitFor();
    expect(await roleOf(admin)).toBe("admin");
  });

  it("is the only role that can open these pages", async () => {
    const page = await visit({ as: seeded.newcomer, expected: /^refused: 403 \/admin/ });
    for (const path of [
      "/admin/users",
      `/admin/users/${admin.id}`,
      "/admin/webhooks",
      "/admin/subscriptions",
      "/admin/service-keys",
      "/admin/event-endpoints",
      `/admin/event-endpoints/${seeded.endpointId}`,
      "/admin/audit",
    ]) {
      expect((await page.goto(path))?.status()).toBe(403);
      await page.getByRole("heading", { name: "Administrators only" }).waitFor();
      expect(await page.title()).toBe("Administrators only · Tollgate");
      expect(await page.content()).not.toContain(admin.email);
    }
  });

  it("finds a delivery that failed, reads why, and replays it", async () => {
    const page = await visit({ as: admin });
    await page.goto("/admin/webhooks");
    await waitForHydration(page.getByRole("search"));
    await page.getByLabel("Status").selectOption({ label: "Failed" });
    await page.waitForURL("/admin/webhooks?status=failed");
    const rows = page.getByRole("table", { name: "Deliveries" }).getByRole("row");
    await eventually(() => rows.count(), 2);
    await rows.nth(1).getByRole("link").click();
    await page.waitForURL(`/admin/webhooks/${seeded.failedId}`);
    await section(page, "History").getByText("Attempt 1 failed (provider delivery)").waitFor();
    await section(page, "History")
      .getByText("The next retry succeeds once this user has signed up")
      .waitFor();
    await section(page, "Details").getByText("Failed at", { exact: true }).waitFor();
    expect(await section(page, "Details").getByText("Completed at").count()).toBe(0);
    await page.getByLabel("Search payload").fill("seeded-15");
    await page.getByText(/^\d+ matches\.$/).waitFor();

    await addUsers({ rows: (text) => site.test.rows(`${text} on conflict do nothing`, [16]) }, 16);
    await press(page, "Replay delivery");
    await page.getByText("Replayed. The event was applied.").waitFor();
    await section(page, "Details").getByText("Successful", { exact: true }).waitFor();
    await section(page, "History").getByText("Attempt 2 succeeded (manual replay)").waitFor();
    await press(page, "Replay delivery");
    await page.getByText("This delivery already succeeded.").first().waitFor();
    await page.getByLabel("Replay anyway").check();
    await press(page, "Replay delivery");
    await section(page, "History").getByText("Attempt 3 succeeded (manual replay)").waitFor();
  });

  it("reconciles out-of-order subscriptions with the provider", async () => {
    const person = await createUser(site.test, "Mixed Up");
    await subscribe(site, person, 2);
    await site.test.rows("update subscription set out_of_order = true, seats = 3 where user_id = $1", [
      person.id,
    ]);
    const page = await visit({ as: admin });
    await page.goto("/admin/subscriptions");
    const row = page.getByRole("row").filter({ hasText: "Mixed Up" });
    await row.getByRole("button", { name: /^Compare with provider/ }).click();
    await page.getByText("was corrected to match the provider").waitFor();
    await page.getByText("Seats: 3 → 2").waitFor();
    await row.waitFor({ state: "detached" });
  });

  it("dismisses an out-of-order subscription with a reason", async () => {
    const page = await visit({ as: admin });
    await page.goto("/admin/subscriptions");
    const row = page.getByRole("row").filter({ hasText: "seeded-8" });
    await row.getByRole("link", { name: "Dismiss: seeded-8" }).click();
    await page.waitForURL(`/admin/subscriptions/${seeded.outOfOrderId}`);
    await fill(page, { Reason: "Settled by hand." });
    await press(page, "Dismiss from review");
    await page.waitForURL("/admin/subscriptions?done=dismissed");
    await page.getByText("The subscription was taken off the review list.").waitFor();
    expect(await row.count()).toBe(0);
  });

  it.each([true, false])(
    "creates a service key, rotates and revokes it (JavaScript: %s)",
    async (javaScriptEnabled) => {
      const page = await visit({ as: admin, javaScriptEnabled });
      const name = `Warehouse ${javaScriptEnabled}`;
      const shownKey = async () => {
        await page.getByRole("heading", { name: "Copy your new key now" }).waitFor();
        return (await page
          .locator("code")
          .filter({ hasText: /^tgs_\w{40}$/ })
          .textContent()) as string;
      };
      const statusWith = async (key: string) =>
        (await sendRequest(site.url, "GET", `/api/entitlements?user=${admin.id}`, { key })).status;
      await page.goto("/dashboard");
      await page.getByRole("complementary").getByRole("link", { name: "Service keys" }).click();
      await page.waitForURL("/admin/service-keys");
      if (javaScriptEnabled) await waitForHydration(page.getByLabel("Name"));
      await fill(page, { Name: name, Limit: "lots" });
      await press(page, "Create key");
      const permissions = page.getByRole("group", { name: "Permissions" });
      await permissions.getByText("Choose at least one.").waitFor();
      await page.getByLabel("entitlements:read").check();
      await press(page, "Create key");
      await page
        .getByText("Enter the limit as requests/seconds, such as 600/60, for at most a day (86400).")
        .first()
        .waitFor();
      expect(await page.getByLabel("entitlements:read").isChecked()).toBe(true);
      await fill(page, { Limit: "50/1" });
      await press(page, "Create key");
      const first = await shownKey();
      expect(await statusWith(first)).toBe(200);
      await page.goto("/admin/service-keys");
      expect(await page.content()).not.toContain(first);

      const row = page.getByRole("listitem").filter({ hasText: name });
      await row.getByText("50/1").waitFor();
      if (javaScriptEnabled) await waitForHydration(page.getByLabel("Name"));
      await row.getByText("Rotate…").click();
      await row.getByRole("button", { name: `Rotate key: ${name}` }).click();
      const second = await shownKey();
      expect([await statusWith(first), await statusWith(second)]).toEqual([200, 200]);
      await row.getByText("Previous key valid until").waitFor();

      await row.getByText("Revoke…").click();
      await row.getByLabel(`Type ${name} to confirm`).fill("something else");
      await row.getByRole("button", { name: "Revoke key" }).click();
      await page.getByText("That doesn’t match the key’s name.").first().waitFor();
      await row.getByLabel(`Type ${name} to confirm`).fill(name);
      await row.getByRole("button", { name: "Revoke key" }).click();
      await page.getByText("Key revoked.").waitFor();
      expect(await row.count()).toBe(0);
      expect([await statusWith(first), await statusWith(second)]).toEqual([401, 401]);
    },
  );

  it.each([true, false])(
    "adds an event endpoint, tests, pauses, rotates and deletes it (JavaScript: %s)",
    async (javaScriptEnabled) => {
      const page = await visit({ as: admin, javaScriptEnabled });
      const secretShown = async () =>
        (await page.locator("code").filter({ hasText: "whsec_" }).textContent()) as string;
      await page.goto("/dashboard");
      await page.getByRole("complementary").getByRole("link", { name: "Event endpoints" }).click();
      await page.waitForURL("/admin/event-endpoints");
      if (javaScriptEnabled) await waitForHydration(page.getByLabel("URL"));
      await fill(page, { URL: "https://10.0.0.1/hook" });
      await press(page, "Add endpoint");
      await page.getByRole("group", { name: "Event types" }).getByText("Choose at least one.").waitFor();
      await page.getByLabel("payment.disputed").check();
      await press(page, "Add endpoint");
      await page.getByText("Enter a public https address.").first().waitFor();
      expect(await page.getByLabel("payment.disputed").isChecked()).toBe(true);
      await fill(page, { URL: receiver.url, "Description (optional)": "Data warehouse" });
      await press(page, "Add endpoint");
      await page.getByRole("heading", { name: "Copy the signing secret now" }).waitFor();
      const first = await secretShown();
      await page.goto("/admin/event-endpoints");
      expect(await page.content()).not.toContain(first);

      await page.getByRole("link", { name: receiver.url }).click();
      await page.waitForURL(/\/admin\/event-endpoints\/[0-9a-f-]{36}$/);
      if (javaScriptEnabled) await waitForHydration(page.getByLabel("Event type", { exact: true }));
      await section(page, "Details").getByText("Description", { exact: true }).waitFor();
      await press(page, "Send test event");
      await page.getByText("Delivered. The endpoint responded with 204.").waitFor();
      const log = page.getByRole("table", { name: "Deliveries" });
      await log.getByText("1 attempt").waitFor();
      expect(receiver.received.at(-1)?.event.type).toBe("payment.disputed");
      await press(page, "Pause");
      await section(page, "Details").getByText("Paused").waitFor();
      await press(page, "Resume");
      await section(page, "Details").getByText("Enabled").waitFor();
      await press(page, "Rotate secret");
      await page.getByRole("heading", { name: "Copy the signing secret now" }).waitFor();
      expect(await secretShown()).not.toBe(first);

      const confirmation = page.getByLabel(`Type ${receiver.url} to confirm`);
      await confirmation.fill(new URL(receiver.url).host);
      await press(page, "Delete endpoint");
      await page.getByText("That doesn’t match the endpoint’s URL.").first().waitFor();
      await confirmation.fill(receiver.url);
      await press(page, "Delete endpoint");
      await page.getByText("Endpoint deleted.").waitFor();
      expect(await page.getByText(receiver.url).count()).toBe(0);
    },
  );

  it("replays one delivery of an endpoint, and all that failed", async () => {
    const [{ id } = { id: "" }] = await site.test.rows<{ id: string }>(
      `insert into event_endpoint (url, types, secret, enabled)
       values ('https://events.example.com/paused', '{user.updated}', 'whsec_AAAA', false) returning id`,
    );
    await site.test.rows(
      `with event as (
         insert into outbound_event (type, subject, data, position, id)
         select 'user.updated', 'replay ' || n, '{}', 1000000 + n, 'evt_replay_' || n from generate_series(1, 3) n
         returning *)
       insert into outbound_delivery (endpoint_id, event_id, event_type, position, subject, status, give_up_at, completed_at)
       select $1, id, type, position, subject, 'failed', now(), now() from event`,
      [id],
    );
    const pending = async () =>
      (
        await site.test.rows("select from outbound_delivery where endpoint_id = $1 and status = 'pending'", [
          id,
        ])
      ).length;
    const page = await visit({ as: admin });
    await page.goto(`/admin/event-endpoints/${id}`);
    const replayButton = page.getByRole("button", { name: /^Replay user\.updated/ });
    await waitForHydration(replayButton.first());
    await replayButton.first().click();
    await page.getByText("1 delivery will be sent again.").waitFor();
    expect(await pending()).toBe(1);
    await press(page, "Replay all failed");
    await page.getByText("2 deliveries will be sent again.").waitFor();
    expect(await pending()).toBe(3);
    await eventually(() => replayButton.count(), 0);
  });
});
