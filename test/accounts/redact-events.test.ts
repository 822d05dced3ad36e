import { expect, it } from "vitest";
import { OPERATOR } from "../../src/domain/callers/caller.ts";
import { deleteUser } from "../../src/operations/users/delete-user.ts";
import { createTestContext } from "../operations/test-context.ts";
import { testDatabase } from "../support/test-database.ts";

const test = testDatabase(2);

it("takes a deleted user's external id out of the events that wait for the relay, and nobody else's", async () => {
  await test.rows("delete from outbound_event");
  await test.rows(`update "user" set external_id = 'crm_' || id`);
  await createTestContext(test).call(deleteUser, OPERATOR, {
    userId: "user_0",
    confirmation: "user_0@example.com",
  });
  const waiting = await test.rows(
    "select type, data from outbound_event where position is null order by data ->> 'id', seq",
  );
  expect(waiting).toEqual([
    { type: "user.updated", data: { id: "user_0", externalId: null } },
    { type: "user.deleted", data: { id: "user_0", externalId: "crm_user_0" } },
    { type: "user.updated", data: { id: "user_1", externalId: "crm_user_1" } },
  ]);
});
