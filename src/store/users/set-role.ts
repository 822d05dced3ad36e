import type { Role } from "../../domain/callers/caller.ts";
import type { Queryable } from "../database.ts";
import { IS_ADMINISTRATOR } from "./bans.ts";

// A demotion locks the first remaining administrator: of several at once the last is refused, as it re-reads
// the row it waited for.
const SET_ROLE = {
  name: "set_role",
  text: `
with administrator as (
  select id from "user" u where ${IS_ADMINISTRATOR} order by id for no key update
),
changed as (
  update "user" set role = $2::text, updated_at = now()
  where id = $1 and role <> $2::text and ($2::text = 'admin' or exists (select from administrator where id <> $1))
  returning id
),
notified as (
  insert into notification (user_id, kind, details)
  select id, 'role_changed', jsonb_build_object('role', $2::text) from changed
)
select case
  when exists (select from changed) then 'changed'
  when u.role = $2::text or $2::text = 'admin' or exists (select from administrator where id <> $1) then 'unchanged'
  else 'last_administrator'
end as outcome
from "user" u where u.id = $1`,
};

/** `last_administrator`: refused, as no administrator would remain. Notifies the user whose role changed. */
export async function setRole(
  database: Queryable,
  id: string,
  role: Role,
): Promise<"changed" | "unchanged" | "last_administrator" | "unknown"> {
  type Row = { outcome: "changed" | "unchanged" | "last_administrator" };
  const [user] = await database.run<Row>(SET_ROLE, [id, role]);
  return user?.outcome ?? "unknown";
}
