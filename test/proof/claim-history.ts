import { expect } from "vitest";
import type { TestDatabase } from "../support/database.ts";

/**
 * Has the database record every write of a delivery's claim and status, in the order in which they were made.
 */
export async function recordClaims(test: TestDatabase): Promise<void> {
  const statements = [
    `create table claim_history (n bigint generated always as identity, transaction xid8 default pg_current_xact_id(),
       delivery_id bigint, claim_no int, status text)`,
    `create function record_claim() returns trigger language plpgsql as $$ begin
       insert into claim_history (delivery_id, claim_no, status) values (new.id, new.claim_no, new.status);
       return new;
     end $$`,
    `create trigger record_claim after insert or update of claim_no, status on webhook_delivery
     for each row execute function record_claim()`,
  ];
  for (const statement of statements) await test.rows(statement);
}

/**
 * Expects that nobody has written for a claim that another had taken over, or after the success.
 * @returns how many claims there were after the first, and how many took over from one whose lease had run
 * out
 */
export async function expectNoFencedWrites(
  test: TestDatabase,
): Promise<{ again: number; takenOver: number }> {
  const fenced = await test.rows(
    // Of one transaction only the last write counts: before it, a delivery is marked with its expected
    // outcome.
    `with written as (
       select distinct on (transaction, delivery_id) * from claim_history order by transaction, delivery_id, n desc
     )
     select * from (
       select *, max(claim_no) over earlier as last_claim_no, bool_or(status = 'successful') over earlier as was_successful
       from written
       window earlier as (partition by delivery_id order by n rows between unbounded preceding and 1 preceding)
     ) h where claim_no < last_claim_no or was_successful`,
  );
  expect(fenced).toEqual([]);
  const [counts] = await test.rows<{ again: number; takenOver: number }>(
    `select (select count(*)::int from claim_history where claim_no > 1 and status = 'pending') as again,
       (select count(*)::int from webhook_attempts where reason_id = 'lease_expired') as "takenOver"`,
  );
  return counts as { again: number; takenOver: number };
}
