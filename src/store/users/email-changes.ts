import type { Queryable } from "../database.ts";
import { IS_BANNED } from "./bans.ts";

export type NewEmailChange = {
  userId: string;
  newEmail: string;
  /** SHA-256 of the tokens that the two addresses receive. */
  oldToken: Buffer;
  newToken: Buffer;
  validForSeconds: number;
};

const REQUEST = {
  name: "request_email_change",
  text: `
insert into email_change (user_id, new_email, old_token, new_token, expires_at)
values ($1, $2, $3, $4, now() + $5::int * interval '1 second')
on conflict (user_id) do update set new_email = excluded.new_email, old_token = excluded.old_token,
  new_token = excluded.new_token, old_confirmed_at = null, new_confirmed_at = null, expires_at = excluded.expires_at`,
};

/** Replaces the person's previous request, whose links become void. */
export async function requestEmailChange(database: Queryable, change: NewEmailChange): Promise<void> {
  const { userId, newEmail, oldToken, newToken, validForSeconds } = change;
  await database.run(REQUEST, [userId, newEmail, oldToken, newToken, validForSeconds]);
}

type ConfirmedEmailChange = {
  userId: string;
  newEmail: string;
  /** `pending`: the other address has not confirmed yet. */
  outcome: "pending" | "ready";
};

const CONFIRM = {
  name: "confirm_email_change",
  text: `
update email_change c set
  old_confirmed_at = case when c.old_token = $1 then coalesce(c.old_confirmed_at, now()) else c.old_confirmed_at end,
  new_confirmed_at = case when c.new_token = $1 then coalesce(c.new_confirmed_at, now()) else c.new_confirmed_at end
from "user" u
where u.id = c.user_id and not ${IS_BANNED} and (c.old_token = $1 or c.new_token = $1) and c.expires_at > now()
returning c.user_id as "userId", c.new_email as "newEmail",
  case when c.old_confirmed_at is not null and c.new_confirmed_at is not null then 'ready' else 'pending' end as outcome`,
};

/** By the token that one of the two addresses has received; `null`: unknown or expired. */
export async function confirmEmailChange(
  database: Queryable,
  token: Buffer,
): Promise<ConfirmedEmailChange | null> {
  const [row] = await database.run<ConfirmedEmailChange>(CONFIRM, [token]);
  return row ?? null;
}

// Links sent to the old address become void; sessions stay, as the person has just proved their identity. The
// user is locked first, as for a new password: the other way round, the two could wait for each other.
const APPLY = {
  name: "apply_email_change",
  text: `
with locked as (select id from "user" where id = $1 for no key update),
change as (
  delete from email_change c using locked
  where c.user_id = locked.id and old_confirmed_at is not null and new_confirmed_at is not null
  returning user_id, new_email
),
before as (select u.id, u.email from "user" u join change c on c.user_id = u.id),
links as (delete from verification where value = $1),
changed as (
  update "user" u set email = c.new_email, email_verified = true, updated_at = now()
  from change c where u.id = c.user_id
  returning u.id
),
notified as (insert into notification (user_id, kind) select id, 'email_changed' from changed),
audited as (
  insert into audit_entry (actor_kind, actor_id, address, action, target_type, target_id)
  select 'session', id, $2, 'user.email_changed', 'user', id from changed
)
select before.email as "oldEmail", change.new_email as "newEmail" from before join change on change.user_id = before.id`,
};

/**
 * The addresses before and after; `null` when the change was made or withdrawn meanwhile.
 * @throws DatabaseError (unique violation) when somebody else has the address by now
 */
export async function applyEmailChange(
  database: Queryable,
  userId: string,
  address: string,
): Promise<{ oldEmail: string; newEmail: string } | null> {
  const [row] = await database.run<{ oldEmail: string; newEmail: string }>(APPLY, [userId, address]);
  return row ?? null;
}

const WITHDRAW = { name: "withdraw_email_change", text: "delete from email_change where user_id = $1" };

export async function withdrawEmailChange(database: Queryable, userId: string): Promise<void> {
  await database.run(WITHDRAW, [userId]);
}
