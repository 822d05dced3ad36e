import { expect, it } from "vitest";
import plans from "../../plans.config.ts";
import { notificationMail } from "../../src/mail/mail-notifications.ts";
import { insertNotifications } from "../../src/store/notifications/notifications.ts";
import { smtpServer } from "../support/smtp-server.ts";
import { accounts, PASSWORD } from "./accounts.ts";

const site = accounts();
const confirming = accounts({ requireConfirmation: true });
const log = { info() {}, warn() {}, error() {} };

it("mails notifications to one recipient at most five times in 15 minutes, and password resets besides", async () => {
  const { id, email } = await site.signedUp();
  const smtp = await smtpServer();
  const { database } = site.test;
  const run = notificationMail({
    database,
    smtpUrl: smtp.url,
    from: "Tollgate <no-reply@example.com>",
    appUrl: "https://app.example.com",
    plans,
    mayMail: site.auth.mayMailNotifications,
    log,
  });
  const createKey = () =>
    insertNotifications(database, [
      { userId: id, kind: "api_key_created", details: { name: "key", prefix: "tg_abcdefg" } },
    ]);
  try {
    for (let keys = 0; keys < 8; keys += 1) {
      await createKey();
      expect(await run(() => false)).toBe("ok");
    }
    expect(smtp.mails).toHaveLength(5);

    site.mails.length = 0;
    await site.call("/request-password-reset", { email, redirectTo: "/reset-password" });
    expect(site.mails.map(({ to }) => to)).toEqual([email]);

    // A quarter of an hour later.
    await site.test.rows(
      "update mail_recipient set sent_at = array(select t - interval '15 minutes' from unnest(sent_at) t)",
    );
    await site.test.rows("update notification set mail_after = now() where mail_after < 'infinity'");
    await run(() => false);
    expect(smtp.mails).toHaveLength(6);
    expect(
      await site.test.rows("select from notification where mail_after is distinct from 'infinity'"),
    ).toEqual([]);
  } finally {
    await smtp.close();
  }
});

it("mails notifications to somebody for whom strangers request resets, and ignores mails dated in the future", async () => {
  const { email } = await site.signedUp();
  for (let resets = 0; resets < 6; resets += 1)
    await site.call("/request-password-reset", { email, redirectTo: "/reset-password" });
  // The sixth is beyond the limit of resets.
  expect(site.mails.filter(({ to }) => to === email)).toHaveLength(5);
  // A failover to a server whose clock is right: what was sent before seems to lie ahead.
  await site.test.rows(
    "update mail_recipient set sent_at = array(select t + interval '3 hours' from unnest(sent_at) t)",
  );
  await site.call("/request-password-reset", { email, redirectTo: "/reset-password" });
  expect(site.mails.filter(({ to }) => to === email)).toHaveLength(6);
  expect(await site.auth.mayMailNotifications(email)).toBe(true);
});

it("mails a password reset to somebody with whose address strangers sign up", async () => {
  const email = "owner@example.com";
  for (let signUps = 0; signUps < 7; signUps += 1)
    await confirming.call("/sign-up/email", { name: "Person", email, password: PASSWORD });
  // The first one is asked to confirm the address; of the others, the sixth is beyond the limit.
  expect(confirming.mails.map(({ to }) => to)).toEqual(new Array(6).fill(email));

  await confirming.call("/request-password-reset", { email });
  expect(confirming.mails.at(-1)?.subject).toBe("Reset your password");
});
