import { expect, it } from "vitest";
import { type Claim, fenceClaims } from "../../src/store/claims.ts";
import { testDatabase } from "../support/test-database.ts";

const test = testDatabase(0);

it("fences off a claim that another process has taken over", async () => {
  const [row] = await test.rows<{ id: string }>(
    `insert into webhook_delivery (provider, event_id, event_type, format, status, claim_source, claim_no, lease_until, payload)
     values ('provider-a', 'evt_taken_over', 'x', 'stripe', 'pending', 'retry', 2, clock_timestamp() + interval '1 hour', '{}')
     returning id::text`,
  );
  const claim: Claim = {
    id: row?.id as string,
    provider: "provider-a",
    eventId: "evt_taken_over",
    attemptNo: 1,
    heldAs: "pending",
    claimNo: 1,
  };
  expect(await fenceClaims(test.database, [claim])).toEqual(new Set());
  expect(await test.rows("select status, claim_no from webhook_delivery")).toEqual([
    { status: "pending", claim_no: 2 },
  ]);
  expect(await fenceClaims(test.database, [{ ...claim, claimNo: 2 }])).toEqual(new Set([claim.id]));
});
