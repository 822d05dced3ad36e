import type { ServiceKey } from "../../domain/callers/caller.ts";
import type { Locale } from "../../domain/locale.ts";
import { type Database, type Queryable, throwUnavailableOnTimeout, violatedConstraint } from "../database.ts";
import { retryOnContention } from "../retry-on-contention.ts";
import { INTERACTIVE_LIMITS, inTransaction } from "../transaction.ts";
import { USER_COLUMNS, type User } from "./users.ts";

const FIND = {
  name: "find_named_users",
  text: `
select id, null as "externalId" from "user" where id = any ($1::text[])
union all
select id, external_id from "user" where external_id = any ($2::text[])`,
};

/** The ids of existing users, by our id or by another system's; others are left out. */
export async function findNamedUsers(
  database: Queryable,
  names: { users: readonly string[]; externalIds: readonly string[] },
): Promise<{ id: string; externalId: string | null }[]> {
  return database.run(FIND, [names.users, names.externalIds]);
}

export type ExternalUser = {
  externalId: string;
  email: string;
  name: string;
  locale?: Locale | null | undefined;
};

type StoredExternalUser = User & { externalId: string | null };

const SHOWN = `${USER_COLUMNS}, external_id as "externalId"`;

const FIND_UNCHANGED = {
  name: "find_unchanged_external_user",
  text: `
select ${SHOWN} from "user" u where external_id = $1
  and not exists (select from "user" other where other.email = $2 and other.id <> u.id)`,
};

const INSERT = {
  name: "insert_external_user",
  text: `
insert into "user" (id, external_id, email, name, locale) values ($1, $2, $3, $4, coalesce($5, 'en'))
on conflict do nothing returning ${SHOWN}`,
};

const IS_CHANGEABLE = `external_id = $1 and role <> 'admin'
  and not exists (select from account a where a.user_id = u.id and a.password is not null)`;

// A link to set a password that was mailed to the old address would hand its reader the account. A statement of its own:
// it waits for whoever is setting a password by one, and the next statement sees that they have.
const REVOKE_LINKS = {
  name: "revoke_links_of_external_user",
  text: `
delete from verification where value in (select id from "user" u where ${IS_CHANGEABLE} and email <> $2 for no key update)`,
};

// A reset at the new address would hand over the account, too: who has changed it is recorded.
const UPDATE = {
  name: "update_external_user",
  text: `
with before as (
  select u.id as known_id, u.email as old_email from "user" u where ${IS_CHANGEABLE} for no key update
), audited as (
  insert into audit_entry (actor_kind, key_id, address, action, target_type, target_id)
  select 'service-key', $5, $6, 'user.email_changed', 'user', known_id from before where old_email <> $2
)
update "user" u set email = $2, email_verified = email_verified and email = $2, name = $3,
  locale = coalesce($4, locale),
  updated_at = case when (email, name, locale) = ($2, $3, coalesce($4, locale)) then updated_at else now() end
from before where u.id = known_id
returning ${SHOWN}`,
};

/**
 * Creates the user or brings it up to date. One who is an administrator or has a password is left as they
 * are. `null`: another account has the address.
 * @throws DatabaseUnavailable
 */
export async function putExternalUser(
  database: Database,
  { newId, externalId, email, name, locale = null }: ExternalUser & { newId: string },
  by: Pick<ServiceKey, "keyId" | "address">,
): Promise<StoredExternalUser | null> {
  const [created] = await database.run<StoredExternalUser>(INSERT, [newId, externalId, email, name, locale]);
  if (created) return created;
  const values = [externalId, email, name, locale, by.keyId, by.address];
  // Of two who exchange their addresses at once PostgreSQL ends one, as each waits for the other: then both are refused as taken.
  const updating = retryOnContention(() =>
    inTransaction(database, INTERACTIVE_LIMITS, async (transaction) => {
      const revoking = transaction.run(REVOKE_LINKS, [externalId, email]);
      const writing = transaction.run<StoredExternalUser>(UPDATE, values);
      await transaction.commitAfter([revoking, writing]);
      return writing;
    }),
  );
  const [updated] = await updating.catch(nullIfTaken).catch(throwUnavailableOnTimeout);
  if (updated !== undefined) return updated;
  const [unchanged] = await database.run<StoredExternalUser>(FIND_UNCHANGED, [externalId, email]);
  return unchanged ?? null;
}

function nullIfTaken(error: unknown): [null] {
  if (violatedConstraint(error) === "user_email_key") return [null];
  throw error;
}
