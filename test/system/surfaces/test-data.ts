import { createHash, randomUUID } from "node:crypto";
import { fixtureDelivery } from "../../fixtures/fixture.ts";
import type { TestDatabase } from "../../support/database.ts";
import { createSession } from "../../support/people.ts";
import { SECRETS } from "../../support/variables.ts";
import type { CallerName, Credentials } from "./surface.ts";

type Rows = Pick<TestDatabase, "rows">;

type Person = { id: string; email: string };

/** Everybody who may call, whom nothing has been charged yet, and something of everything that belongs to the owner. */
export type TestData = {
  people: Record<"owner" | "other" | "admin", Person>;
  callers: Record<CallerName, Credentials>;
  /** Whom the limits count, for each caller. */
  counted: Record<CallerName, string>;
  /** Of two, the newer one. */
  subscriptionId: string;
  /** Of two that are unread, the newer one. */
  notificationId: string;
  /** A key that nobody uses. */
  spareKeyId: string;
  applied: string;
  /** Would be applied now: it tells of a subscription of the owner's. */
  failed: string;
  /** Paused. */
  endpointId: string;
};

let casts = 0;

/** Written straight into the database: hundreds are wanted, and to hash a password takes a tenth of a second. */
export async function createTestData(test: Rows): Promise<TestData> {
  casts += 1;
  const run = `cast-${casts}`;
  const address = `198.18.${casts >> 8}.${casts & 255}`;
  const headers = { "x-forwarded-for": address };
  const people = {
    owner: personOf(run, "owner"),
    other: personOf(run, "other"),
    admin: personOf(run, "admin"),
  };
  const { owner, other, admin } = people;
  await test.rows(
    `insert into "user" (id, name, email, role)
     select id, 'Before', id || '@example.com', role from unnest($1::text[], $2::text[]) as p (id, role)`,
    [
      [owner.id, other.id, admin.id],
      ["user", "user", "admin"],
    ],
  );
  const [cookies, [key, spareKey], adminKey, subscriptionId, notificationId, [applied, failed]] =
    await Promise.all([
      Promise.all([owner, other, admin].map(({ id }) => createSession(test, id))),
      inTurn([1, 2], () => apiKey(test, owner.id)),
      apiKey(test, admin.id),
      subscriptions(test, owner.id),
      notifications(test, owner.id),
      inTurn(["successful", "failed"] as const, (status) =>
        delivery(test, { run: `${run}-${status}`, userId: owner.id, status }),
      ),
    ]);
  const [ownerCookie, otherCookie, adminCookie] = cookies as [string, string, string];
  await test.rows(
    `update webhook_attempt set subscription_id = $2, changed_at = started_at,
       changes = '{"status": ["active", "past_due"], "seats": [5, 6]}'
     where delivery_id = $1`,
    [applied, subscriptionId],
  );
  const endpointId = await eventEndpoint(test);
  return {
    people,
    callers: {
      nobody: { headers },
      owner: { cookie: ownerCookie, headers },
      other: { cookie: otherCookie, headers },
      admin: { cookie: adminCookie, headers },
      key: { key: key.key, headers },
      adminKey: { key: adminKey.key, headers },
    },
    counted: {
      nobody: address,
      owner: owner.id,
      key: owner.id,
      other: other.id,
      admin: admin.id,
      adminKey: admin.id,
    },
    spareKeyId: spareKey.id,
    subscriptionId,
    notificationId,
    applied,
    failed,
    endpointId,
  };
}

/** At an address that nothing is sent to. */
async function eventEndpoint(test: Rows): Promise<string> {
  const [row] = await test.rows<{ id: string }>(
    `insert into event_endpoint (url, types, enabled, secret)
     values ('https://127.0.0.1/hook', '{user.updated}', false, 'whsec_AAAA') returning id`,
  );
  return row?.id as string;
}

/** Of two that are of one kind the second is the younger one. */
async function inTurn<Of, Made>(
  [first, second]: readonly [Of, Of],
  make: (of: Of) => Promise<Made>,
): Promise<[Made, Made]> {
  return [await make(first), await make(second)];
}

function personOf(run: string, name: string): Person {
  const id = `${run}-${name}`;
  return { id, email: addressOf(id) };
}

function addressOf(personId: string): string {
  return `${personId}@example.com`;
}

async function apiKey(test: Rows, userId: string): Promise<{ id: string; key: string }> {
  const id = randomUUID();
  const key = `tg_${`${id}${id}`.replaceAll("-", "").slice(0, 40)}`;
  // Used just now: the time of last use is stored once a minute, and would count as a change.
  await test.rows(
    `insert into api_key (id, user_id, name, prefix, hash, last_used_at) values ($1, $2, 'CI', $3, $4, now())`,
    [id, userId, key.slice(0, 11), createHash("sha256").update(key).digest()],
  );
  return { id, key };
}

async function subscriptions(test: Rows, userId: string): Promise<string> {
  const [newer] = await test.rows<{ id: string }>(
    `insert into subscription (id, user_id, provider, provider_subscription_id, plan_id, seats, status,
       cancel_at_period_end, out_of_order, current_period_end, created_at)
     select gen_random_uuid(), $1, 'provider-b', $1 || n, 'team', 5 + n, case n when 1 then 'past_due' else 'canceled' end,
       n = 1, n = 2, case n when 1 then timestamptz '2031-02-03T04:05:06Z' end, now() - n * interval '1 day'
     from generate_series(1, 2) n returning id`,
    [userId],
  );
  await test.rows(
    `insert into payment (provider, provider_payment_id, provider_subscription_id, amount, currency, state, status, receipt_url,
       occurred_at)
     select 'provider-b', 'txn_' || $1 || n, $1 || n, 4200 * n, 'EUR', 'paid', 'paid', 'https://pay.example/' || n,
       now() - n * interval '1 day'
     from generate_series(1, 2) n`,
    [userId],
  );
  return newer?.id as string;
}

async function notifications(test: Rows, userId: string): Promise<string> {
  const rows = await test.rows<{ id: string }>(
    `insert into notification (user_id, kind, details)
     select $1, 'subscription_activated', '{"planId": "team", "of": {"seats": [7, null]}}'
     from generate_series(1, 2) returning id::text`,
    [userId],
  );
  return rows.at(-1)?.id as string;
}

async function delivery(
  test: Rows,
  { run, userId, status }: { run: string; userId: string; status: "successful" | "failed" },
): Promise<string> {
  const { rawBody, eventType } = fixtureDelivery("stripe", "customer.subscription.created", {
    secret: SECRETS["provider-a"],
    nowSeconds: 1_900_000_000,
    eventId: run,
    subscriptionId: run,
    customerId: run,
    userId,
    planId: "team",
    priceId: "price_team_monthly",
    seats: 7,
    status: "active",
  });
  const [row] = await test.rows<{ id: string }>(
    `with logged as (
       insert into webhook_delivery (provider, event_id, event_type, format, status, claim_source, payload, completed_at,
         last_error, next_attempt_at)
       values ('provider-a', $1, $2, 'stripe', $3, 'delivery', $4, now(), $5, $6) returning id
     )
     insert into webhook_attempt (delivery_id, claim_no, source, outcome, reason, started_at, duration_ms)
     select id, 1, 'delivery', $3, $5, now(), 1.5 from logged returning delivery_id::text as id`,
    [
      run,
      eventType,
      status,
      rawBody.toString(),
      status === "failed" ? "there was nobody of that name" : null,
      status === "failed" ? "2040-01-01T00:00:00Z" : null,
    ],
  );
  return row?.id as string;
}
