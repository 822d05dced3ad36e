import { randomUUID } from "node:crypto";
import type { TestDatabase } from "./database.ts";

type Columns = Partial<
  Record<"id" | "provider" | "customer_id" | "plan_id" | "status", string> &
    Record<"provider_subscription_id" | "price_id" | "current_period_end", string | null> &
    Record<"past_due_since" | "created_at" | "updated_at", string> &
    Record<"cancel_at_period_end" | "pauses_at_period_end" | "out_of_order" | "is_one_time", boolean>
> & { seats?: number };

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
