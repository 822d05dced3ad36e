import type { Queryable } from "../database.ts";

const MAX_MAILS = 5;
const WINDOW = "interval '15 minutes'";

/** Those ahead were sent while the database's clock was, as before a failover: they would hold back all others. */
const IS_RECENT = `t > clock_timestamp() - ${WINDOW} and t < clock_timestamp() + interval '1 minute'`;

const TAKE = {
  name: "take_mail_to_recipient",
  text: `
insert into mail_recipient as r (key, sent_at) values ($1, array[clock_timestamp()])
on conflict (key) do update set last_at = clock_timestamp(), sent_at =
  array(select t from unnest(r.sent_at) t where ${IS_RECENT}) || clock_timestamp()
where (select count(*) from unnest(r.sent_at) t where ${IS_RECENT}) < ${MAX_MAILS}
returning key`,
};

/** Whether another mail may go to this recipient: at most five in any 15 minutes. Counts it if so. */
export async function takeMailTo(database: Queryable, key: string): Promise<boolean> {
  return (await database.run(TAKE, [key])).length > 0;
}
