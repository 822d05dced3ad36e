import { createHash, createHmac } from "node:crypto";
import { query } from "../shared/postgres.ts";
import { AUTH_SECRET } from "../shared/server-process.ts";

/**
 * A signed-in user with three subscriptions and three notifications; everything about them follows from the
 * number.
 */
export type Person = {
  userId: string;
  /** `name=value`, signed as Better Auth signs it. */
  sessionCookie: string;
  token: string;
  /** What every contender has to answer, in JSON's terms, the newest first; all of it is one page. */
  lists: { subscriptions: Shown[]; notifications: Shown[] };
};

type Shown = Record<string, unknown>;

const USERS = 1_000;

/**
 * So many of them ask while it is measured. The rest make the tables longer, and have sessions to be revoked.
 */
export const ASKING = 200;

const SLOTS = ["provider-a", "provider-b", "provider-c"];
const FIRST_CREATED = Date.UTC(2026, 0, 1);
const MINUTE_MS = 60_000;

export function person(number: number): Person {
  const userId = `bench_user_${String(number).padStart(8, "0")}`;
  const token = digest(`session ${number}`).slice(0, 32);
  const signature = createHmac("sha256", AUTH_SECRET).update(token).digest("base64");
  const subscriptions = SLOTS.map((slot, index) => subscription(userId, number, slot, index));
  return {
    userId,
    token,
    sessionCookie: `better-auth.session_token=${encodeURIComponent(`${token}.${signature}`)}`,
    lists: {
      notifications: subscriptions.map((about, index) => notification(number, index, about)).reverse(),
      subscriptions: subscriptions.reverse(),
    },
  };
}

function subscription(userId: string, number: number, provider: string, index: number): Shown {
  const hex = digest(`subscription ${number} ${provider}`);
  const createdAt = FIRST_CREATED + (number * SLOTS.length + index) * MINUTE_MS;
  const at = (ms: number) => new Date(ms).toISOString();
  return {
    id: `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`,
    userId,
    provider,
    providerSubscriptionId: `sub_1bench${hex.slice(0, 14)}`,
    planId: "pro",
    seats: 1 + (number % 5),
    status: "active",
    currentPeriodEnd: at(createdAt + 30 * 24 * 60 * MINUTE_MS),
    cancelAtPeriodEnd: number % 2 === 0,
    outOfOrder: false,
    createdAt: at(createdAt),
    updatedAt: at(createdAt + MINUTE_MS),
  };
}

/** The first of them has been read. */
function notification(number: number, index: number, { id, planId, createdAt }: Shown): Shown {
  return {
    id: String(1 + number * SLOTS.length + index),
    kind: "subscription_activated",
    details: { planId, subscriptionId: id },
    createdAt,
    readAt: index === 0 ? createdAt : null,
  };
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Users, a session of each, and their lists. The sessions are new: none is due to be prolonged. */
export async function populate(databaseUrl: string): Promise<void> {
  const people = Array.from({ length: USERS }, (_, number) => person(number));
  await query(
    databaseUrl,
    `insert into "user" (id, name, email, email_verified)
    select id, 'Bench', id || '@example.com', true from unnest($1::text[]) as id`,
    [people.map(({ userId }) => userId)],
  );
  await query(
    databaseUrl,
    `insert into session (id, user_id, token, expires_at, ip_address, user_agent)
    select 'session_' || user_id, user_id, token, now() + interval '7 days', '127.0.0.1', 'bench'
    from unnest($1::text[], $2::text[]) as one (user_id, token)`,
    [people.map(({ userId }) => userId), people.map(({ token }) => token)],
  );
  await query(
    databaseUrl,
    `insert into subscription (id, user_id, provider, provider_subscription_id, plan_id, seats, status,
      current_period_end, cancel_at_period_end, out_of_order, created_at, updated_at)
    select id, "userId", provider, "providerSubscriptionId", "planId", seats, status,
      "currentPeriodEnd", "cancelAtPeriodEnd", "outOfOrder", "createdAt", "updatedAt"
    from jsonb_to_recordset($1::jsonb) as one (id uuid, "userId" text, provider text, "providerSubscriptionId" text,
      "planId" text, seats int, status text, "currentPeriodEnd" timestamptz, "cancelAtPeriodEnd" boolean,
      "outOfOrder" boolean, "createdAt" timestamptz, "updatedAt" timestamptz)`,
    [JSON.stringify(people.flatMap(({ lists }) => lists.subscriptions))],
  );
  const notifications = people.flatMap(({ userId, lists }) =>
    lists.notifications.map((notification) => ({ userId, ...notification })),
  );
  await query(
    databaseUrl,
    `insert into notification (id, user_id, kind, details, created_at, read_at) overriding system value
    select id, "userId", kind, details, "createdAt", "readAt"
    from jsonb_to_recordset($1::jsonb) as one (id bigint, "userId" text, kind text, details jsonb,
      "createdAt" timestamptz, "readAt" timestamptz)`,
    [JSON.stringify(notifications)],
  );
}

export async function revokeSession(databaseUrl: string, { token }: Person): Promise<void> {
  await query(databaseUrl, "delete from session where token = $1", [token]);
}

/** One whose session may be revoked: nobody else's, and none of those who ask. */
export function personToRevoke(index: number): Person {
  return person(USERS - 1 - index);
}
