import { IS_ADMINISTRATOR } from "../users/bans.ts";

/**
 * Whether the user `u` is notified of what an administrator has added: that person, or all administrators if that
 * person is no longer one, and can neither see nor mend it.
 * @param creator the SQL of the id, null for the operator
 */
export function isNotifiedOf(creator: string): string {
  return `${IS_ADMINISTRATOR} and (u.id = ${creator} or not ${isAdministrator(creator)})`;
}

function isAdministrator(id: string): string {
  return `exists (select from "user" u where u.id = ${id} and ${IS_ADMINISTRATOR})`;
}
