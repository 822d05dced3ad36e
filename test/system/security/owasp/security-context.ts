import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import type { RunningServer } from "../../../../src/server.ts";
import { fixtureDelivery } from "../../../fixtures/fixture.ts";
import { builtPages } from "../../../support/built-pages.ts";
import type { TestDatabase } from "../../../support/database.ts";
import { deliverWebhook } from "../../../support/http.ts";
import { createAdmin, createKey, createUser, type TestUser } from "../../../support/people.ts";
import { startTestServer } from "../../../support/server.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { testDatabase } from "../../../support/test-database.ts";
import { GENEROUS_LIMITS, SECRETS } from "../../../support/variables.ts";

/** A user with one of everything. */
export type Inhabitant = TestUser & {
  /** Signed up on the context's own server; so is what belongs to it. */
  key: string;
  keyId: string;
  subscriptionIds: [string, string];
  notificationIds: [string, string];
};

/** A server, a database, and three users. */
export type SecurityContext = {
  test: TestDatabase;
  /** The address of a server whose limits no attack reaches. */
  url: string;
  victim: Inhabitant;
  attacker: Inhabitant;
  admin: Inhabitant;
  /** A delivery that failed; the words in its payload are in `CONFIDENTIAL`. */
  deliveryId: string;
  /** Starts another server on the same database, with the default limits; returns its address. */
  serverWith(variables: Record<string, string>): Promise<string>;
  /** The mails that the servers have written, the oldest first, unwrapped. */
  mails(): Promise<string[]>;
};

/** In the payload of a delivery: for administrators only. */
export const CONFIDENTIAL = "an invoice that is nobody else's business";

/** For the tests of one file. */
export function securityContext(): SecurityContext {
  const context = { test: testDatabase(3) } as SecurityContext;
  const servers: RunningServer[] = [];
  let folder: string;

  beforeAll(async () => {
    await builtPages();
    folder = await temporaryFolder();
    context.serverWith = async (variables) => {
      const server = await startTestServer(context.test.url, { DATA_DIR: folder, ...variables });
      servers.push(server);
      return server.url;
    };
    context.mails = () => mailsIn(join(folder, "mail"));
    context.url = await context.serverWith(GENEROUS_LIMITS);
    [context.victim, context.attacker, context.admin] = await Promise.all([
      createUser(context.test, "Vera Victim").then((person) => settled(context, person)),
      createUser(context.test, "Mallory Attacker").then((person) => settled(context, person)),
      createAdmin(context.test).then((person) => settled(context, person)),
    ]);
    context.deliveryId = await failedDelivery(context);
  }, 180_000);
  afterAll(async () => {
    for (const server of servers) await server.close();
  });
  return context;
}

async function settled({ url, test }: SecurityContext, person: TestUser): Promise<Inhabitant> {
  const { id: keyId, key } = await createKey(url, person);
  const subscriptions = await test.rows<{ id: string }>(
    `insert into subscription (id, user_id, provider, provider_subscription_id, customer_id, price_id, plan_id, seats,
       status, current_period_end, cancel_at_period_end, out_of_order)
     select gen_random_uuid(), $1, 'provider-a', 'sub_' || $1 || n, 'cus_' || $1, 'price_of_' || $1, 'team', 5 + n,
       'active', now() + interval '1 month', false, false
     from generate_series(1, 2) n returning id`,
    [person.id],
  );
  await test.rows(
    `insert into payment (provider, provider_payment_id, provider_subscription_id, amount, currency, state, status, occurred_at)
     select 'provider-a', 'in_' || $1 || n, 'sub_' || $1 || n, 4200, 'EUR', 'paid', 'paid', now() from generate_series(1, 2) n`,
    [person.id],
  );
  const notifications = await test.rows<{ id: string }>(
    `insert into notification (user_id, kind, details)
     select $1, 'subscription_activated', jsonb_build_object('planId', 'team', 'of', $1::text)
     from generate_series(1, 2) returning id::text`,
    [person.id],
  );
  const pair = (rows: { id: string }[]) => rows.map(({ id }) => id) as [string, string];
  return {
    ...person,
    key,
    keyId,
    subscriptionIds: pair(subscriptions),
    notificationIds: pair(notifications),
  };
}

async function failedDelivery({ url, test }: SecurityContext): Promise<string> {
  const delivery = fixtureDelivery("stripe", "customer.subscription.created", {
    secret: SECRETS["provider-a"],
    nowSeconds: Math.floor(Date.now() / 1000),
    eventId: CONFIDENTIAL,
    subscriptionId: "sub_confidential",
    customerId: "cus_confidential",
    userId: "nobody that there is",
    planId: "team",
  });
  const response = await deliverWebhook(url, "provider-a", delivery);
  if (response.status !== 500) throw new Error(`expected a delivery that fails: ${response.status}`);
  // Not retried by webhook-retry.
  const [row] = await test.rows<{ id: string }>(
    "update webhook_delivery set next_attempt_at = now() + interval '1 day' where event_id = $1 returning id::text",
    [CONFIDENTIAL],
  );
  return (row as { id: string }).id;
}

async function mailsIn(folder: string): Promise<string[]> {
  const files = await readdir(folder).catch(() => []);
  const mails = await Promise.all(files.sort().map((file) => readFile(join(folder, file), "utf8")));
  // A file is empty for a moment before it is written. Quoted-printable folds a long link over lines.
  return mails
    .filter((mail) => mail !== "")
    .map((mail) => mail.replaceAll(/=\r?\n/g, "").replaceAll("=3D", "="));
}

/** Everything stored about a user, to show that an attack has changed none of it. */
export async function belongingsOf({ test }: SecurityContext, { id }: { id: string }): Promise<unknown> {
  const [row] = await test.rows(
    `select to_jsonb(u) as person,
       (select jsonb_agg(to_jsonb(s) - 'updated_at' order by s.id) from session s where s.user_id = u.id) as sessions,
       (select jsonb_agg(to_jsonb(a) order by a.id) from account a where a.user_id = u.id) as accounts,
       (select jsonb_agg(to_jsonb(k) - 'last_used_at' order by k.id) from api_key k where k.user_id = u.id) as keys,
       (select jsonb_agg(to_jsonb(s) order by s.id) from subscription s where s.user_id = u.id) as subscriptions,
       (select jsonb_agg(to_jsonb(n) order by n.id) from notification n where n.user_id = u.id) as notifications
     from "user" u where u.id = $1`,
    [id],
  );
  return row;
}
