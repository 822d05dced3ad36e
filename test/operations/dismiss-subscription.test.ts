import { describe, expect, it } from "vitest";
import { dismissSubscription } from "../../src/operations/subscriptions/dismiss-subscription.ts";
import { hasDueHeals } from "../../src/store/reconciliation/heals.ts";
import { stripeContext } from "../support/stripe-context.ts";

const context = stripeContext();
const { eventOf, receive, stored } = context;

const OPERATOR = { kind: "operator" } as const;

async function flagged(): Promise<string> {
  await receive(eventOf("customer.subscription.created"));
  const [row] = await context.test.rows<{ id: string }>(
    "update subscription set out_of_order = true returning id",
  );
  return row?.id as string;
}

describe("dismissing a subscription", () => {
  it("clears its flag, changes nothing else, and records who did it and why", async () => {
    const id = await flagged();
    await context.test.rows(`update "user" set role = 'admin' where id = 'user_2'`);
    const admin = { kind: "session", userId: "user_2", role: "admin" } as never;
    const [before] = await stored();
    const dismissed = await dismissSubscription.run(
      context.runtime,
      admin,
      { id, reason: "refunded by hand" },
      {},
    );
    expect(dismissed).toMatchObject({ id, outOfOrder: false });
    expect(await stored()).toEqual([{ ...before, out_of_order: false }]);
    expect(await context.test.rows("select by, user_id, changes, reason from reconciliation")).toEqual([
      {
        by: "administrator",
        user_id: "user_2",
        changes: { outOfOrder: [true, false] },
        reason: "refunded by hand",
      },
    ]);
  });

  it("is refused when it is not flagged, and writes nothing", async () => {
    const id = await flagged();
    await dismissSubscription.run(context.runtime, OPERATOR, { id, reason: "once" }, {});
    const secondDismissal = dismissSubscription.run(context.runtime, OPERATOR, { id, reason: "twice" }, {});
    await expect(secondDismissal).rejects.toMatchObject({ code: "conflict", reason: "review_not_needed" });
    expect(await context.test.rows("select reason from reconciliation")).toEqual([{ reason: "once" }]);
  });

  it("does not keep a later out-of-order event from flagging it again, to be compared at once", async () => {
    const id = await flagged();
    await context.test.rows(
      "insert into subscription_heal (subscription_id, attempts, next_attempt_at) values ($1, 9, now() + interval '15 minutes')",
      [id],
    );
    await dismissSubscription.run(context.runtime, OPERATOR, { id, reason: "settled" }, {});
    const occurredAt = new Date(Date.now() - 3_600_000);
    await receive(eventOf("customer.subscription.updated", { seats: 9, occurredAt }));
    expect(await stored()).toMatchObject([{ seats: 9, out_of_order: true }]);
    expect(await hasDueHeals(context.test.database, ["provider-a"])).toBe(true);
  });

  it("is done again when PostgreSQL has ended it for another transaction", async () => {
    const id = await flagged();
    await context.test.rows("create sequence tries");
    await context.test.rows(`create function deadlock_once() returns trigger language plpgsql as $$ begin
      if nextval('tries') = 1 then raise exception using errcode = 'deadlock_detected'; end if;
      return null;
    end $$`);
    await context.test.rows(
      "create trigger deadlock_once before insert on reconciliation for each statement execute function deadlock_once()",
    );
    await dismissSubscription.run(context.runtime, OPERATOR, { id, reason: "settled" }, {});
    expect(await context.test.rows("select reason from reconciliation")).toEqual([{ reason: "settled" }]);
    expect(await stored()).toMatchObject([{ out_of_order: false }]);
  });
});
