import { expect, it } from "vitest";
import {
  claimOutboundDeliveries,
  dueEndpoints,
} from "../../../src/store/outbound/claim-outbound-deliveries.ts";
import { insertEndpoint } from "../../../src/store/outbound/event-endpoints.ts";
import { testDatabase } from "../../support/test-database.ts";

const test = testDatabase(0);

it("claims what is due, and what was set while the database's clock was ahead", async () => {
  const endpoint = { url: "https://example.com/hook", types: ["user.updated"], description: null };
  const { id } = await insertEndpoint(test.database, { ...endpoint, secret: "whsec_x", createdBy: null });
  await test.rows(
    `insert into outbound_delivery (endpoint_id, event_id, event_type, subject, next_attempt_at, give_up_at)
     select $1, 'in_' || hours, 'user.updated', hours, now() + hours * interval '1 hour', now() + interval '5 days'
     from unnest(array[-1, 7, 24]) as waiting (hours)`,
    [id],
  );
  const claimed = async (limit: number) => {
    const deliveries = await claimOutboundDeliveries(test.database, id, { limit, leaseSeconds: 60 });
    return deliveries.map(({ subject }) => subject);
  };
  expect(await dueEndpoints(test.database, [])).toEqual([id]);
  expect(await claimed(1)).toEqual(["-1"]);
  expect(await dueEndpoints(test.database, [])).toEqual([id]);
  expect(await claimed(5)).toEqual(["24"]);
  expect(await dueEndpoints(test.database, [])).toEqual([]);
});
