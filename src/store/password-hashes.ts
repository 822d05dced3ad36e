import type { Queryable } from "./database.ts";

const FIND = {
  name: "find_password_hash",
  text: `
select a.password as hash from "user" u join account a on a.user_id = u.id
where u.email = $1 and a.provider_id = 'credential'`,
};

/** Of the account with this address; `null`: there is none, or it has no password. */
export async function findPasswordHash(database: Queryable, email: string): Promise<string | null> {
  const [account] = await database.run<{ hash: string | null }>(FIND, [email]);
  return account?.hash ?? null;
}
