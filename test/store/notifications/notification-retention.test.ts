import { expect, it } from "vitest";
import { dropNotifications } from "../../../src/store/notifications/notification-retention.ts";
import { testDatabase } from "../../support/test-database.ts";

const test = testDatabase(1);

it("deletes old notifications, the oldest first", async () => {
  await test.rows(
    `insert into notification (user_id, kind, created_at)
     select 'user_0', 'role_changed', now() - n * interval '100 days' from generate_series(5, 1, -1) n`,
  );
  expect(await dropNotifications(test.database, { olderThanDays: 365, limit: 10 })).toBe(2);
  expect(await test.rows("select from notification")).toHaveLength(3);
});
