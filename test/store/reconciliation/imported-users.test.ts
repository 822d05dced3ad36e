import { expect, it } from "vitest";
import { updateImportedUsers } from "../../../src/store/reconciliation/imported-users.ts";
import { testDatabase } from "../../support/test-database.ts";

const test = testDatabase(2);

it("marks only a changed address unconfirmed", async () => {
  await test.rows(`update "user" set email_verified = true`);
  const changed = { externalId: null, name: "Ann", locale: "de" } as const;
  await updateImportedUsers(test.database, [
    { ...changed, id: "user_0", email: "ann@example.com" },
    { ...changed, id: "user_1", email: "user_1@example.com" },
  ]);
  expect(await test.rows(`select id, name, locale, email, email_verified from "user" order by id`)).toEqual([
    { id: "user_0", name: "Ann", locale: "de", email: "ann@example.com", email_verified: false },
    { id: "user_1", name: "Ann", locale: "de", email: "user_1@example.com", email_verified: true },
  ]);
});
