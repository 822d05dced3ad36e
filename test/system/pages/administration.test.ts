import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningServer } from "../../../src/server.ts";
import { builtPages } from "../../support/built-pages.ts";
import { addUsers } from "../../support/database.ts";
import { createUser, type TestUser } from "../../support/people.ts";
import { startTestServer } from "../../support/server.ts";
import { createServiceKey } from "../../support/service-keys.ts";
import { testDatabase } from "../../support/test-database.ts";
import { APP_URL, openPage, unescaped } from "./open-page.ts";

const test = testDatabase(0);
let server: RunningServer;
let admin: TestUser;
beforeAll(async () => {
  await builtPages();
  server = await startTestServer(test.url, { APP_URL });
  admin = await createUser(test, "Grace", { isHttps: true, role: "admin" });
}, 180_000);
afterAll(() => server.close());

const open = (path: string) => openPage(server.url, path, admin.cookie);

describe("a user's page", () => {
  it("is found by the id alone, not by a name or an address", async () => {
    const { id, email } = await createUser(test, "Ada");
    expect((await open(`/admin/users/${id}`)).status).toBe(200);
    for (const other of ["Ada", email]) expect((await open(`/admin/users/${other}`)).status).toBe(404);
  });

  it("is found by an id of another system, whatever its characters", async () => {
    for (const id of ["auth0|5f7c8ec7", "a b", "jörg@example.com", "50%25"]) {
      await createUser(test, `Of ${id}`, { id });
      const { html } = await open(`/admin/users?search=${encodeURIComponent(id)}`);
      const [, href = ""] = /href="(\/admin\/users\/[^"]*)"/.exec(html) ?? [];
      expect((await open(unescaped(href))).text).toContain(` ID ${id} `);
    }
  });

  it("shows what that user has paid", async () => {
    const { id } = await createUser(test, "Ada");
    await test.rows(
      `insert into payment (provider, provider_payment_id, user_id, amount, currency, state, status, occurred_at)
       values ('provider-a', $1, $1, 123456, 'eur', 'paid', 'disputed', now())`,
      [id],
    );
    expect((await open(`/admin/users/${id}`)).text).toContain(" €1,234.56 Disputed ");
    expect((await open(`/admin/users/${admin.id}`)).text).not.toContain("Disputed");
  });

  it("deletes no account of one's own, and says where that is done", async () => {
    const { id } = await createUser(test, "Ada");
    expect((await open(`/admin/users/${id}`)).html).toContain('name="confirmation"');
    const own = await open(`/admin/users/${admin.id}`);
    expect(own.html).not.toContain('name="confirmation"');
    expect(own.text).toContain("This is your own account.");
  });
});

describe("the list of users", () => {
  it("says who is an administrator", async () => {
    const { text } = await open(`/admin/users?search=${admin.email}`);
    expect(text).toMatch(new RegExp(`Grace \\(you\\) ${admin.email} Administrator `));
  });
});

describe("the second page of a list", () => {
  it.each([
    ["/admin/users?search=user_", "search=user_"],
    ["/admin/webhooks?status=failed&provider=provider-b", "provider=provider-b&status=failed"],
  ])("has the filters of the first: %s", async (path, filters) => {
    await addUsers({ rows: (text, values) => test.rows(`${text} on conflict do nothing`, values) }, 26);
    await test.rows(
      `insert into webhook_delivery (provider, event_id, event_type, format, status, claim_source)
       select 'provider-b', 'evt_' || n, 'other', 'paddle', 'failed', 'delivery' from generate_series(1, 26) n
       on conflict do nothing`,
    );
    const [, next = ""] = /href="([^"]*cursor=[^"]*)"/.exec((await open(path)).html) ?? [];
    expect(unescaped(next)).toContain(`?${filters}&cursor=`);
  });
});

describe("an event endpoint", () => {
  it("replays what was sent, but no test, whose data is not kept", async () => {
    const [endpoint] = await test.rows<{ id: string }>(
      `insert into event_endpoint (url, types, secret, enabled)
       values ('https://events.example.com/hook', '{user.updated}', 'whsec_AAAA', false) returning id`,
    );
    await test.rows(
      `insert into outbound_delivery
         (endpoint_id, event_id, event_type, subject, status, attempts, give_up_at, completed_at)
       select $1, id, 'user.updated', id, 'delivered', 1, now(), now()
       from unnest(array['evt_test_1', 'evt_1']) id`,
      [endpoint?.id],
    );
    const { html } = await open(`/admin/event-endpoints/${endpoint?.id}`);
    expect(html.match(/aria-label="Replay user\.updated/g)).toHaveLength(1);
  });
});

describe("a service key", () => {
  it("can be rotated until it expires", async () => {
    const shown = async () => (await open("/admin/service-keys")).text;
    const { id } = await createServiceKey(test);
    expect(await shown()).toContain("Rotate…");
    await test.rows("update service_key set expires_at = now() where id = $1", [id]);
    expect(await shown()).toMatch(/Expired .*Revoke…/);
    expect(await shown()).not.toContain("Rotate…");
  });
});
