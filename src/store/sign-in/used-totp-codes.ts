import type { Queryable } from "../database.ts";

// Longer than a code is accepted: its own 30 seconds, and those before and after.
const CONSUME = {
  name: "consume_totp_code",
  text: `
insert into used_totp_code as u (user_id, code) values ($1, $2)
on conflict (user_id, code) do update set used_at = clock_timestamp()
where u.used_at < clock_timestamp() - interval '2 minutes'
returning 1`,
};

/** Whether this is the code's first use (RFC 6238, section 5.2). @param code a keyed hash */
export async function consumeTotpCode(database: Queryable, userId: string, code: string): Promise<boolean> {
  return (await database.run(CONSUME, [userId, code])).length > 0;
}
