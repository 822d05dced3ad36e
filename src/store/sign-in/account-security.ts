import type { Queryable } from "../database.ts";

const FIND = {
  name: "find_account_security",
  text: `
select u.two_factor_enabled as "hasTwoFactor", c.new_email as "pendingEmail"
from "user" u left join email_change c on c.user_id = u.id and c.expires_at > now()
where u.id = $1`,
};

export async function findAccountSecurity(
  database: Queryable,
  userId: string,
): Promise<{ hasTwoFactor: boolean; pendingEmail: string | null } | null> {
  const [row] = await database.run<{ hasTwoFactor: boolean; pendingEmail: string | null }>(FIND, [userId]);
  return row ?? null;
}
