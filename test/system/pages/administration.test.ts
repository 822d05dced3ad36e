import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningServer } from "../../../src/server.ts";
import { fixtureDelivery } from "../../fixtures/fixture.ts";
import { numberedEvent } from "../../fixtures/numbered-event.ts";
import { builtPages } from "../../support/built-pages.ts";
import { addUsers } from "../../support/database.ts";
import { deliverWebhook } from "../../support/http.ts";
import { createUser, type TestUser } from "../../support/people.ts";
import { startTestServer } from "../../support/server.ts";
import { createServiceKey } from "../../support/service-keys.ts";
import { testDatabase } from "../../support/test-database.ts";
import { SECRETS } from "../../support/variables.ts";
import { APP_URL, openPage, sendForm, unescaped } from "./open-page.ts";

const test = testDatabase(0);
let server: RunningServer;
let admin: TestUser;
beforeAll(async () => {
  await builtPages();
  server = await startTestServer(test.url, { APP_URL });
  admin = await createUser(test, "Grace", { isHttps: true, role: "admin" });
  await addUsers(test, 26);
  // The first page of a process takes long on a busy machine.
  await fetch(`${server.url}/sign-in`);
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
    for (const id of ["auth0|5f7c8ec7", "a b", "jörg@example.com", "50%25", "long".repeat(63)]) {
      await createUser(test, `Of ${id}`, { id });
      const { html } = await open(`/admin/users?search=${encodeURIComponent(id)}`);
      const [, href = ""] = /href="(\/admin\/users\/[^"]*)"/.exec(html) ?? [];
      expect((await open(unescaped(href))).text).toContain(` ID ${id} `);
      expect(unescaped(html)).toContain(`value="${id}"`);
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
    ["/admin/audit?from=2026-01-02&action=page.turned", "action=page.turned&from=2026-01-02"],
  ])("has the filters of the first: %s", async (path, filters) => {
    await test.rows(
      `insert into webhook_delivery (provider, event_id, event_type, format, status, claim_source)
       select 'provider-b', 'evt_' || n, 'other', 'paddle', 'failed', 'delivery' from generate_series(1, 26) n
       on conflict do nothing`,
    );
    await test.rows(
      `insert into audit_entry (actor_kind, action, target_type, target_id)
       select 'operator', 'page.turned', 'user', 'user_1' from generate_series(1, 26)`,
    );
    const [, next = ""] = /href="([^"]*cursor=[^"]*)"/.exec((await open(path)).html) ?? [];
    expect(unescaped(next)).toContain(`?${filters}&cursor=`);
  });
});

describe("a delivery", () => {
  const deliver = async (event: ReturnType<typeof fixtureDelivery>) => {
    await deliverWebhook(server.url, "provider-a", event);
    const [row] = await test.rows<{ id: string }>(
      "update webhook_delivery set next_attempt_at = next_attempt_at + interval '1 day' where event_id = $1 returning id::text",
      [event.eventId],
    );
    return open(`/admin/webhooks/${row?.id}`);
  };

  it("says why it failed, what helps, and when it is tried again", async () => {
    const { text } = await deliver(
      fixtureDelivery("stripe", "customer.subscription.created", {
        secret: SECRETS["provider-a"],
        nowSeconds: Math.floor(Date.now() / 1000),
        eventId: "evt_of_gold",
        userId: "user_1",
        planId: "gold",
        priceId: "price_gold",
      }),
    );
    expect(text).toMatch(/Attempt 1 failed .* There is no plan with the ID “gold”\. /);
    expect(text).toContain("Add the price ID to plans.config.ts and restart the server.");
    expect(text).toMatch(/ Next attempt in .* Next automatic retry in /);
  });

  it("says what it changed, before and after", async () => {
    const { text } = await deliver(numberedEvent("applied", 4));
    expect(text).toMatch(/ Field Before After .* Seats (?!9)\S+ 9 /);
  });
});

describe("the chart of the last day", () => {
  it("has as many deliveries of each kind as there were, in its table too", async () => {
    await test.rows(
      `insert into webhook_delivery (provider, event_id, event_type, format, status, claim_source, completed_at)
       select 'provider-c', 'charted_' || n, 'other', 'polar', case n when 1 then 'failed' else 'successful' end,
         'delivery', now() from generate_series(1, 3) n`,
    );
    const { text } = await open("/admin/webhooks?provider=provider-c");
    expect(text).toContain(" Failed 1 Pending 0 Successful 2 ");
    const rows = [...text.matchAll(/ \d\d:\d\d (\d+) (\d+) (\d+)(?= )/g)];
    const total = (column: number) => rows.reduce((sum, row) => sum + Number(row[column]), 0);
    expect([total(1), total(2), total(3)]).toEqual([1, 0, 2]);
  });
});

describe("the audit log", () => {
  it("says which key changed something from where, on the days that are asked for", async () => {
    await test.rows(
      `insert into audit_entry (at, actor_kind, key_id, address, action, target_type, target_id)
       select at::timestamptz, 'service-key', 'key_' || n, '192.0.2.' || n, 'something.done', 'user', 'user_1'
       from (values (1, '2026-01-01T23:59Z'), (2, '2026-01-02T23:59Z'), (3, '2026-01-03T00:00Z')) as entry (n, at)`,
    );
    const { text } = await open("/admin/audit?action=something&from=2026-01-02&to=2026-01-02");
    expect(text).toMatch(
      / From \(UTC\) .*To \(UTC\) .* Service key Entries by this actor: key_2 192\.0\.2\.2 /,
    );
    expect(text).not.toMatch(/192\.0\.2\.[13]/);
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

describe("an event endpoint that was disabled", () => {
  it("is not said to be paused, and why, and tries again once it is resumed", async () => {
    const [endpoint] = await test.rows<{ id: string }>(
      `insert into event_endpoint (url, types, secret, enabled, failing_since, disabled_at)
       values ('https://events.example.com/gone', '{user.updated}', 'whsec_AAAA', false, now(), now()) returning id`,
    );
    await test.rows(
      `with delivery as (
         insert into outbound_delivery (endpoint_id, event_id, event_type, subject, status, attempts, give_up_at, next_attempt_at)
         values ($1, 'evt_2', 'user.updated', 'user 2', 'pending', 1, now() + interval '5 days', now() + interval '1 day')
         returning id)
       insert into outbound_attempt (delivery_id, attempt, at, duration_ms, response_status)
       select id, 1, now(), 120, 503 from delivery`,
      [endpoint?.id],
    );
    const { text } = await open(`/admin/event-endpoints/${endpoint?.id}`);
    expect(text).toContain("so it was disabled. Resume it once the cause is fixed");
    expect(text).toContain(" Status Disabled ");
    const list = (await open("/admin/event-endpoints")).text;
    expect(list).toMatch(/events\.example\.com\/gone user\.updated Disabled Pending /);
    await test.rows("update event_endpoint set enabled = true, disabled_at = null where id = $1", [
      endpoint?.id,
    ]);
    expect((await open(`/admin/event-endpoints/${endpoint?.id}`)).text).toContain(" Next attempt: ");
  });
});

describe("a form", () => {
  it("tells screen readers what is wrong with its boxes", async () => {
    const { html } = await sendForm(server.url, "/admin/service-keys", admin.cookie, {
      on: 'name="permissions"',
      fields: { name: "shop", limit: "600/60" },
    });
    const [, id = ""] = /<fieldset(?=[^>]*aria-describedby="([^"]*)")/.exec(html) ?? [];
    expect(html).toMatch(new RegExp(`<p id="${id}"[^>]*>Choose at least one\\.`));
  });
});

describe("a service key", () => {
  it("can be rotated until it expires", async () => {
    const shown = async () => (await open("/admin/service-keys")).text;
    const { id } = await createServiceKey(test, { permissions: ["users:read", "usage:write"] });
    expect(await shown()).toMatch(/ Permissions users:read, usage:write .* Rotate…/);
    await test.rows("update service_key set expires_at = now() where id = $1", [id]);
    expect(await shown()).toMatch(/Expired .*Revoke…/);
    expect(await shown()).not.toContain("Rotate…");
  });
});
