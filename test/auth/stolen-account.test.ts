import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { newApiKey } from "../../src/auth/callers/api-key.ts";
import { insertApiKey } from "../../src/store/keys/api-keys.ts";
import { cookieOf } from "../support/people.ts";
import { accounts, PASSWORD } from "./accounts.ts";

const context = accounts();
const NEW_PASSWORD = "known to the owner alone";

it("takes an account from a stranger and gives it back by the statements of the guide", async () => {
  const { id, cookie } = await context.signedUp();
  const { key, prefix, hash } = newApiKey();
  await insertApiKey(context.test.database, { userId: id, name: "Key", prefix, hash, expiresAt: null });
  const stranger = { email: "stranger@example.com", password: PASSWORD };
  await context.test.rows(`update "user" set email = $2 where id = $1`, [id, stranger.email]);

  const guide = await readFile("docs/how-to/when-something-is-wrong.md", "utf8");
  const section = /## Somebody else is in a person's account\n(.*?)\n## /s.exec(guide)?.[1] ?? "";
  const [suspend = "", giveBack = ""] = [...section.matchAll(/```sql\n(.*?)```/gs)].map(([, text]) => text);
  const run = (statements: string) =>
    context.test.rows(statements.replaceAll("<id>", id).replace("<address>", "The.Owner@Example.com"));
  await context.call("/change-email", { newEmail: "second@example.com" }, { cookie });
  await context.call("/request-password-reset", { email: stranger.email });
  const text = context.mails.map((mail) => mail.text).join("\n");
  const changeTokens = [...text.matchAll(/confirm-email-change\S*?token=([\w-]+)/g)].map(
    ([, token]) => token,
  );
  const resetToken = /reset-password\/([\w-]+)/.exec(text)?.[1];
  expect([changeTokens.length > 0, resetToken]).toEqual([true, expect.any(String)]);
  await run(suspend);
  expect((await context.identify({ cookie })).caller.kind).toBe("anonymous");
  await expect(context.identify({ "x-api-key": key })).rejects.toMatchObject({ code: "unauthorized" });
  expect((await context.call("/sign-in/email", stranger)).status).toBe(403);

  await context.test.rows(
    `insert into "user" (id, name, email) values ('other', 'Other', 'the.owner@example.com')`,
  );
  await expect(run(giveBack)).rejects.toThrow("user_email_key");
  await context.test.rows("rollback");
  expect((await context.call("/sign-in/email", stranger)).status).toBe(403);
  await context.test.rows(`delete from "user" where id = 'other'`);

  await run(giveBack);
  for (const token of changeTokens)
    expect((await context.call("/confirm-email-change", { token })).status).toBe(400);
  expect((await context.call("/reset-password", { token: resetToken, newPassword: PASSWORD })).status).toBe(
    400,
  );
  await expect(context.identify({ "x-api-key": key })).rejects.toMatchObject({ code: "unauthorized" });
  expect((await context.identify({ cookie })).caller.kind).toBe("anonymous");
  for (const email of [stranger.email, "the.owner@example.com"])
    expect((await context.call("/sign-in/email", { ...stranger, email })).status).toBe(401);
  await context.call("/request-password-reset", { email: "The.Owner@Example.com" });
  const mail = context.mails.findLast(({ to }) => to === "the.owner@example.com");
  const token = /reset-password\/([\w-]+)/.exec(mail?.text ?? "")?.[1];
  const reset = await context.call("/reset-password", { token, newPassword: NEW_PASSWORD });
  expect(reset.status).toBe(200);
  const signedIn = await context.call("/sign-in/email", {
    email: "the.owner@example.com",
    password: NEW_PASSWORD,
  });
  expect((await context.identify({ cookie: cookieOf(signedIn) })).caller).toMatchObject({ userId: id });
  await expect(context.identify({ "x-api-key": key })).rejects.toMatchObject({ code: "unauthorized" });
});
