import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createUser } from "../support/people.ts";
import { testDatabase } from "../support/test-database.ts";
import { PROJECT } from "./code-block.ts";

const test = testDatabase();

it("takes away what a backup brings back by the statements of the guide", async () => {
  const { id } = await createUser(test);
  await test.rows(
    "insert into event_endpoint (id, url, types, secret) values ($1, 'https://example.com', '{}', 's')",
    [id],
  );
  await test.rows("insert into plugin_link (user_id, plugin, hash) values ($1, 'renewals', sha256('h'))", [
    id,
  ]);
  const guide = readFileSync(join(PROJECT, "docs/how-to/back-up-and-restore.md"), "utf8");
  const statements = [...guide.matchAll(/`((?:update|delete|select) [^`]+)`/g)].map(
    ([, text]) => text as string,
  );
  expect(statements).toHaveLength(9);
  for (const statement of statements)
    await test.rows(
      statement.replace("<id>", id).replace("<address>", "New@Example.com").replace("<time>", "2026-01-01"),
    );
  const [left] = await test.rows(
    `select email, banned, (select enabled from event_endpoint) as is_sending, (select count(*)::int from plugin_link) as links,
       (select count(*)::int from session) as sessions, (select count(*)::int from account where user_id = $1) as passwords
     from "user" where id = $1`,
    [id],
  );
  expect(left).toEqual({
    // As sign-in looks it up, however it was typed.
    email: "new@example.com",
    banned: true,
    is_sending: false,
    links: 0,
    sessions: 0,
    passwords: 0,
  });
});
