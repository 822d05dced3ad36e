import { z } from "zod";
import { pool } from "./database.js";

/** What Tollgate's route takes. */
export const Query = z.strictObject({
  limit: z.coerce.number().int().min(1).max(100).default(20),
  cursor: z
    .string()
    .regex(/^-?\d{1,17}\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
    .optional(),
});

/** The statement of Tollgate's `src/store/subscriptions/subscription-list.ts`, prepared once per connection as it is there. */
const STATEMENT = {
  name: "subscriptions_of_user",
  text: `
select id, user_id as "userId", provider, provider_subscription_id as "providerSubscriptionId",
  plan_id as "planId", seats, status, current_period_end as "currentPeriodEnd",
  cancel_at_period_end as "cancelAtPeriodEnd", out_of_order as "outOfOrder", created_at as "createdAt",
  updated_at as "updatedAt", (extract(epoch from created_at) * 1000000)::bigint::text as "createdAtMicros"
from subscription
where user_id = $1
  and ($2::bigint is null
    or (created_at, id) < (timestamptz 'epoch' + $2::bigint * interval '1 microsecond', $3::uuid))
order by created_at desc, id desc
limit $4::int`,
};

export async function listSubscriptions(userId, { limit, cursor }) {
  const [micros = null, id = null] = cursor?.split(".") ?? [];
  const { rows } = await pool.query({ ...STATEMENT, values: [userId, micros, id, limit + 1] });
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return {
    subscriptions: page.map(({ createdAtMicros: _, ...subscription }) => subscription),
    nextCursor: rows.length > limit ? `${last.createdAtMicros}.${last.id}` : null,
  };
}
