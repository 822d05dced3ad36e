import { randomUUID } from "node:crypto";
import type { TestDatabase } from "./database.ts";

type Columns = {
  id?: string;
  provider?: string;
  provider_subscription_id?: string | null;
  customer_id?: string;
  price_id?: string;
  plan_id?: string;
  seats?: number;
  status?: string;
  current_period_end?: string | null;
  cancel_at_period_end?: boolean;
  out_of_order?: boolean;
  past_due_since?: string;
  created_at?: string;
  updated_at?: string;
};

/** A subscription as the intake stores it: by default an active one of one seat in `pro`. @returns its id */
export async function createSubscription(
  test: Pick<TestDatabase, "rows">,
  userId: string | null,
  columns: Columns = {},
): Promise<string> {
  const row = {
    id: randomUUID(),
    user_id: userId,
    provider: "provider-a",
    provider_subscription_id: randomUUID(),
    plan_id: "pro",
    seats: 1,
    status: "active",
    cancel_at_period_end: false,
    out_of_order: false,
    ...columns,
  };
  const names = Object.keys(row);
  await test.rows(
    `insert into subscription (${names}) values (${names.map((_, n) => `$${n + 1}`)})`,
    Object.values(row),
  );
  return row.id;
}
