import { afterEach, beforeEach, expect, it } from "vitest";
import plans from "../../plans.config.ts";
import { accountNotices } from "../../src/auth/account-notices.ts";
import { createMail } from "../../src/mail/mail.ts";
import { mailJob } from "../../src/runtime/account-jobs.ts";
import { insertNotifications } from "../../src/store/notifications/notifications.ts";
import { eventually } from "../support/eventually.ts";
import { type SmtpServer, smtpServer } from "../support/smtp-server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { testDatabase } from "../support/test-database.ts";

const FROM = "Tollgate <no-reply@example.com>";

const test = testDatabase(120);
let smtp: SmtpServer;
const cleanUps: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  smtp = await smtpServer();
});
afterEach(async () => {
  smtp.reply = () => undefined;
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
  await smtp.close();
  await test.rows("delete from account_notice");
});

/** The notices of one server, which sends a mail again after so many seconds. */
async function server(retryAfterSeconds: readonly number[] = [3600]) {
  const lines: string[] = [];
  const line = (_: object, message: string) => void lines.push(message);
  const log = { debug: line, info: line, warn: line, error: line };
  const mail = createMail(
    { smtpUrl: smtp.url, from: FROM, dataDir: await temporaryFolder(), log },
    retryAfterSeconds,
  );
  cleanUps.push(mail.close);
  const notices = accountNotices({ database: test.database, mail, log });
  const sendDue = async () => {
    await notices.sendDue();
    await mail.idle();
  };
  return { sendDue, lines, mail, notices };
}

const store = (users: number, kind = "password_changed") =>
  test.rows(
    `insert into account_notice (user_id, kind, send_after)
     select id, $2, now() from (select id from "user" order by id limit $1) u`,
    [users, kind],
  );
const aQuarterOfAnHourLater = () =>
  test.rows("update account_notice set send_after = send_after - interval '15 minutes'");
const attempts = () => smtp.verbs.filter((verb) => verb === "RCPT").length;
const defer = () => {
  smtp.reply = ({ verb }) => (verb === "RCPT" ? "450 try again later" : undefined);
};

it("sends a notice once though its mail waits in memory for longer than a quarter of an hour", async () => {
  defer();
  await store(3);
  const [owner, other] = [await server(), await server()];
  await owner.sendDue();
  expect(attempts()).toBe(3);
  for (let runs = 0; runs < 2; runs += 1) {
    await aQuarterOfAnHourLater();
    await owner.sendDue();
    await other.sendDue();
  }
  expect(attempts()).toBe(3);
  smtp.reply = () => undefined;
  // Tries at once what waits.
  await owner.mail.close();
  await other.mail.close();
  expect(smtp.mails).toHaveLength(3);
  expect(await test.rows("select from account_notice")).toEqual([]);
});

it("sends each notice to its own user", async () => {
  await store(3);
  const owners = await test.rows<{ email: string }>(
    'select u.email from account_notice n join "user" u on u.id = n.user_id',
  );
  await (await server()).sendDue();
  expect(smtp.mails.map(({ to }) => to).sort()).toEqual(owners.map(({ email }) => `<${email}>`).sort());
});

it("sends a notice again a quarter of an hour after its mail was given up", async () => {
  defer();
  await store(1);
  const { sendDue } = await server([]);
  await sendDue();
  await sendDue();
  expect(attempts()).toBe(1);
  smtp.reply = () => undefined;
  await aQuarterOfAnHourLater();
  await sendDue();
  await eventually(async () => smtp.mails.length, 1);
  expect(await test.rows("select from account_notice")).toEqual([]);
});

it("sends a notice later that could not be queued", async () => {
  await store(1);
  const { notices, sendDue } = await server();
  const [{ id } = { id: "" }] = await test.rows<{ id: string }>("select id::text from account_notice");
  const failing = notices.send(id, () => Promise.reject(new Error("the database is away")));
  await expect(failing).rejects.toThrow("away");
  await sendDue();
  expect(smtp.mails).toHaveLength(1);
});

it("drops the notice of a user whose address is invalid", async () => {
  await store(1);
  const [{ id, email } = { id: "", email: "" }] = await test.rows<{ id: string; email: string }>(
    'select id, email from "user" where id = (select user_id from account_notice)',
  );
  await test.rows(`update "user" set email = '<>' where id = $1`, [id]);
  const { sendDue } = await server();
  await sendDue();
  await test.rows(`update "user" set email = $2 where id = $1`, [id, email]);
  expect(await test.rows("select from account_notice")).toEqual([]);
});

it("sends the other notices where one is of a kind that only a later release has", async () => {
  await store(1, "recovery_email_changed");
  await store(2);
  const { sendDue, lines } = await server();
  await sendDue();
  expect(smtp.mails).toHaveLength(2);
  expect(lines.filter((line) => line.includes("could not be queued"))).toHaveLength(1);
  expect(await test.rows("select kind from account_notice")).toEqual([{ kind: "recovery_email_changed" }]);
});

it("mails notifications although the notices fail, and fails the run", async () => {
  const { notices } = await server();
  const user = (await test.rows<{ id: string }>('select id from "user" limit 1')).map(({ id }) => id);
  const log = { info() {}, warn() {}, error() {} };
  const mayMail = async () => true;
  const options = {
    database: test.database,
    smtpUrl: smtp.url,
    from: FROM,
    appUrl: "https://app.example.com",
  };
  const job = mailJob({ sendDueNotices: notices.sendDue }, { ...options, plans, mayMail, log });
  await insertNotifications(
    test.database,
    user.map((userId) => ({ userId, kind: "subscription_activated", details: { planId: "pro" } })),
  );
  await test.rows("alter table account_notice rename to account_notice_away");
  const lease = { name: "job:notification-mail", token: "" };
  const run = Promise.resolve(job.run({ lease, isStopping: () => false }));
  await expect(run)
    .rejects.toThrow()
    .finally(() => test.rows("alter table account_notice_away rename to account_notice"));
  expect(smtp.mails).toHaveLength(1);
});

it("has at most fifty notices wait in memory, and then sends the others", async () => {
  defer();
  await store(120);
  const { sendDue, mail } = await server();
  for (let runs = 0; runs < 3; runs += 1) await sendDue();
  expect(attempts()).toBe(50);
  expect(await test.rows("select from account_notice where send_after > now()")).toHaveLength(50);
  smtp.reply = () => undefined;
  await mail.close();
  const next = await server();
  for (let runs = 0; runs < 2; runs += 1) await next.sendDue();
  expect(smtp.mails).toHaveLength(120);
  expect(await test.rows("select from account_notice")).toEqual([]);
});
