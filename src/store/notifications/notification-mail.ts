import type { Locale } from "../../domain/locale.ts";
import type { NotificationKind } from "../../domain/notifications/notification.ts";
import type { Queryable } from "../database.ts";
import { IS_BANNED } from "../users/bans.ts";
import { knownKindCondition } from "./notifications.ts";

/** Condition on notification `n`, identical to its index: unread, and its mail not settled. */
const OPEN = "n.read_at is null and n.mail_after is distinct from 'infinity'";
const IS_RECENT = "n.created_at > now() - interval '1 day'";
// A wait longer than any that is set was begun while the database's clock was ahead, as before a failover.
const IS_DUE = `${OPEN} and ${IS_RECENT} and ${knownKindCondition("n.kind")}
  and (n.mail_after is null or n.mail_after <= now() or n.mail_after > now() + interval '2 hours')`;
/** Condition on its user `u`. */
const IS_WANTED = `(u.preferences ->> 'emailNotifications') is distinct from 'false' and not ${IS_BANNED}`;

const LOOKED_AT = 10_000;

// In index order, oldest first, at most two days back: older ones date from times without a mail server. No
// statement here waits for a row: marking several as read would wait for it in turn.
const SETTLE = {
  name: "settle_notification_mail",
  text: `
with looked_at as materialized (
  select n.id, n.user_id from notification n
  where ${OPEN} and n.created_at > now() - interval '2 days'
  order by n.created_at limit ${LOOKED_AT}
), idle as (
  select n.id, ${IS_WANTED} as was_wanted
  from looked_at join "user" u on u.id = looked_at.user_id join notification n on n.id = looked_at.id
  where ${OPEN} and not (${IS_RECENT} and ${IS_WANTED})
  for no key update of n skip locked
), settled as (
  update notification n set mail_after = 'infinity' from idle where n.id = idle.id
)
select count(*) filter (where was_wanted)::int as late from idle`,
};

/** Settles notifications that must not be mailed, and returns how many of them had become a day old. */
export async function settleNotificationMail(database: Queryable): Promise<number> {
  const [settled] = await database.run<{ late: number }>(SETTLE);
  return settled?.late ?? 0;
}

const DUE = {
  name: "is_notification_mail_due",
  text: `
select n.id from notification n join "user" u on u.id = n.user_id
where ${IS_DUE} and ${IS_WANTED}
order by n.created_at limit 1`,
};

export async function isNotificationMailDue(database: Queryable): Promise<boolean> {
  return (await database.run(DUE)).length > 0;
}

export type NotificationMail = {
  to: string;
  locale: Locale;
  /** The oldest first. */
  notifications: { id: string; kind: NotificationKind; details: Record<string, unknown> }[];
  /** The age of the oldest one. */
  ageSeconds: number;
};

// The lock on the user keeps two processes from claiming a part each; a locked user is skipped.
const CLAIM = {
  name: "claim_notification_mail",
  text: `
with person as (
  select u.id, u.email, u.locale
  from notification n join "user" u on u.id = n.user_id
  where ${IS_DUE} and ${IS_WANTED}
  order by n.created_at limit 1
  for no key update of u skip locked
), theirs as (
  select n.id from notification n join person on n.user_id = person.id
  where ${IS_DUE}
  for no key update of n skip locked
), claimed as (
  update notification n set mail_after = 'infinity' from theirs where n.id = theirs.id
  returning n.id, n.kind, n.details, n.created_at
)
select person.email as "to", person.locale,
  json_agg(json_build_object('id', claimed.id::text, 'kind', kind, 'details', details) order by claimed.id) as notifications,
  extract(epoch from now() - min(claimed.created_at))::float8 as "ageSeconds"
from person cross join claimed group by person.email, person.locale`,
};

/**
 * Claims all notifications to mail to one person. They count as mailed from now on, whatever happens. `null`:
 * none, or another process has claimed them.
 */
export async function claimNotificationMail(database: Queryable): Promise<NotificationMail | null> {
  const [claimed] = await database.run<NotificationMail>(CLAIM);
  return claimed ?? null;
}

const RELEASE = {
  name: "release_notification_mail",
  text: `
with given as (
  select id from notification where id = any ($1::bigint[]) for no key update skip locked
)
update notification n set mail_after = now() + $2::float8 * interval '1 second'
from given where n.id = given.id`,
};

/** Releases claimed notifications that were certainly not sent, to be retried after this many seconds. */
export async function releaseNotificationMail(
  database: Queryable,
  { notifications }: NotificationMail,
  afterSeconds: number,
): Promise<void> {
  await database.run(RELEASE, [notifications.map(({ id }) => id), afterSeconds]);
}
