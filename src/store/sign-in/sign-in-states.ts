import type { Queryable } from "../database.ts";

/** What a sign-in depends on. */
export type SignInState = {
  userId: string;
  /** Of the password; `null` without one. */
  hash: string | null;
  hasTwoFactor: boolean;
};

/** By email address or id. */
export type SignInUser = { email: string } | { userId: string };

const SELECT = `
select u.id as "userId", a.password as hash, u.two_factor_enabled as "hasTwoFactor"
from "user" u left join account a on a.user_id = u.id and a.provider_id = 'credential'`;

const BY_EMAIL = { name: "sign_in_state_by_email", text: `${SELECT} where u.email = $1` };
const BY_ID = { name: "sign_in_state_by_id", text: `${SELECT} where u.id = $1` };

/** `null`: there is no such account. */
export async function findSignInState(database: Queryable, user: SignInUser): Promise<SignInState | null> {
  const [state] =
    "email" in user
      ? await database.run<SignInState>(BY_EMAIL, [user.email])
      : await database.run<SignInState>(BY_ID, [user.userId]);
  return state ?? null;
}
