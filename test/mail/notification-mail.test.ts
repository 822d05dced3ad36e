import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import plans from "../../plans.config.ts";
import type { NotificationKind } from "../../src/domain/notifications/notification.ts";
import type { PlanCatalog } from "../../src/domain/plans/plan.ts";
import { notificationMail } from "../../src/mail/mail-notifications.ts";
import { openDatabase } from "../../src/store/database.ts";
import {
  insertNotifications,
  markAllNotificationsRead,
} from "../../src/store/notifications/notifications.ts";
import { freshDatabase, type TestDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { type Received, type Reply, type SmtpServer, smtpServer } from "../support/smtp-server.ts";

const APP_URL = "https://app.example.com";
const FROM = "Tollgate <no-reply@example.com>";

type MailContext = {
  test: TestDatabase;
  smtp: SmtpServer;
  lines: { level: string; fields: Record<string, unknown>; message: string }[];
  /** One process's job that mails notifications; its clock is the test's. */
  mailJob(
    smtpUrl?: string,
    now?: () => number,
    catalog?: Pick<PlanCatalog, "plans">,
    mayMail?: (email: string) => Promise<boolean>,
  ): (isStopping?: () => boolean) => Promise<"ok" | "failed">;
  notify(userId: string, kind?: NotificationKind, details?: Record<string, string>): Promise<void>;
  /** Makes all notifications older, and ends any wait. */
  age(interval: string): Promise<void>;
  /** How many are still to be mailed. */
  open(): Promise<number>;
};

/** People, notifications and a mail server, for the tests of one file. */
function mailContext(): MailContext {
  const context = { lines: [] } as unknown as MailContext;
  const line = (level: string) => (fields: object, message: string) => {
    context.lines.push({ level, fields: { ...fields }, message });
  };
  const log = { info: line("info"), warn: line("warn"), error: line("error") };
  beforeAll(async () => {
    context.test = await freshDatabase(60);
  });
  afterAll(() => context.test.drop());
  beforeEach(async () => {
    context.smtp = await smtpServer();
  });
  afterEach(async () => {
    await context.smtp.close();
    context.lines.length = 0;
    await context.test.rows("delete from notification");
    await context.test.rows(`update "user" set preferences = preferences || '{"emailNotifications": true}',
      banned = false, ban_expires = null, locale = 'en'`);
  });
  context.mailJob = (
    smtpUrl = context.smtp.url,
    now = undefined,
    catalog = plans,
    mayMail = async () => true,
  ) => {
    const { database } = context.test;
    const options = {
      database,
      smtpUrl,
      from: FROM,
      appUrl: APP_URL,
      plans: catalog,
      mayMail,
      log,
      ...(now ? { now } : {}),
    };
    const run = notificationMail(options);
    return (isStopping = () => false) => run(isStopping);
  };
  context.notify = (userId, kind = "subscription_activated", details = { planId: "pro" }) =>
    insertNotifications(context.test.database, [{ userId, kind, details }]);
  context.age = async (interval) => {
    await context.test.rows(
      `update notification set created_at = created_at - $1::interval,
         mail_after = case when mail_after < 'infinity' then now() end
       where mail_after is distinct from 'infinity'`,
      [interval],
    );
  };
  context.open = async () => {
    const [row] = await context.test.rows<{ count: number }>(
      "select count(*)::int as count from notification where read_at is null and mail_after is distinct from 'infinity'",
    );
    return row?.count ?? 0;
  };
  return context;
}

/** The subject and the text of a mail, decoded. */
function readMail({ data }: Received): { subject: string; text: string; head: string } {
  const end = data.indexOf("\r\n\r\n");
  const [head, body] = [data.slice(0, end), data.slice(end + 4)];
  const encoding = /^Content-Transfer-Encoding: (\S+)/im.exec(head)?.[1]?.toLowerCase();
  return { subject: subjectOf(head), text: decoded(body, encoding).replaceAll("\r\n", "\n"), head };
}

function subjectOf(head: string): string {
  const raw = /^Subject: ((?:.|\r\n[ \t])*)/m.exec(head)?.[1] ?? "";
  return raw
    .replace(/\?=\r\n\s+=\?/g, "?==?")
    .replace(/\r\n(?=[ \t])/g, "")
    .replace(/=\?UTF-8\?([BQ])\?(.*?)\?=/gi, (_, kind: string, text: string) =>
      kind.toUpperCase() === "B"
        ? Buffer.from(text, "base64").toString()
        : decoded(text.replaceAll("_", " "), "quoted-printable"),
    );
}

function decoded(text: string, encoding = "7bit"): string {
  if (encoding === "base64") return Buffer.from(text, "base64").toString();
  if (encoding !== "quoted-printable") return text;
  const bytes = text
    .replace(/=\r\n/g, "")
    .replace(/=([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, "latin1").toString();
}

function recipients({ smtp }: MailContext): string[] {
  return smtp.mails.map(({ to }) => to).sort();
}

const at =
  (verb: string, reply: string | null): Reply =>
  (command) =>
    command.verb === verb ? reply : undefined;

const mailed = mailContext();
const { lines } = mailed;

describe("a notification", () => {
  it("is mailed with its text, a link to it, and a link to turn mails off", async () => {
    await mailed.notify("user_1", "subscription_past_due");
    const run = mailed.mailJob();
    await run();
    await run();
    await mailed.mailJob()();
    expect(mailed.smtp.mails).toHaveLength(1);
    const [mail] = mailed.smtp.mails;
    if (!mail) return;
    expect(mail).toMatchObject({ from: "<no-reply@example.com>", to: "<user_1@example.com>" });
    expect(readMail(mail)).toMatchObject({
      subject: "A payment failed",
      text: `A payment for Pro failed. Check your payment method.

See the details:
https://app.example.com/billing

You’re receiving this email because email notifications are on. Turn them off here:
https://app.example.com/settings`,
    });
    expect(await mailed.open()).toBe(0);
    expect(lines).toEqual([
      { level: "info", fields: { notifications: [expect.any(String)] }, message: "notifications mailed" },
    ]);
  });

  it("is not lost when its mail cannot be composed, and delays no other user's mail", async () => {
    await mailed.notify("user_1", "subscription_plan_changed", { from: "pro", to: "team" });
    await mailed.notify("user_2");
    let isBroken = true;
    const catalog = {
      get plans() {
        // Read once per mail, oldest first.
        if (!isBroken) return plans.plans;
        isBroken = false;
        throw new Error("no such plan");
      },
    };
    const run = mailed.mailJob(mailed.smtp.url, Date.now, catalog);
    await run();
    expect(recipients(mailed)).toEqual(["<user_2@example.com>"]);
    expect(lines).toContainEqual({
      level: "error",
      fields: { err: expect.any(Error), notifications: [expect.any(String)] },
      message: "notification mail could not be composed: retried later",
    });
    await mailed.age("1 hour");
    await run();
    expect(recipients(mailed)).toEqual(["<user_1@example.com>", "<user_2@example.com>"]);
  });

  it("shares one mail with the user's other notifications of the same run", async () => {
    await mailed.notify("user_1", "subscription_plan_changed", { from: "pro", to: "team" });
    await mailed.notify("user_1", "api_key_created", { name: "first", prefix: "tg_abcdefg" });
    await mailed.notify("user_2");
    await mailed.mailJob()();
    expect(recipients(mailed)).toEqual(["<user_1@example.com>", "<user_2@example.com>"]);
    const mail = mailed.smtp.mails.find(({ to }) => to === "<user_1@example.com>");
    expect(mail && readMail(mail)).toMatchObject({
      subject: "Updates about your account",
      text: expect.stringContaining(`Your plan changed from Pro to Team.
An API key (tg_abcdefg…) was created for your account.

See the details:
https://app.example.com/billing
https://app.example.com/api-keys
`),
    });
  });

  it("of a kind that only another release has is left to that, and holds up no other", async () => {
    await mailed.notify("user_1", "of_a_later_release" as string as NotificationKind);
    await mailed.notify("user_1");
    expect(await mailed.mailJob()()).toBe("ok");
    expect(recipients(mailed)).toEqual(["<user_1@example.com>"]);
    expect(await mailed.open()).toBe(1);
  });

  it("waits while its user has been mailed too often, and is then mailed with the later ones", async () => {
    let mayMailFirst = false;
    const mayMail = async (email: string) => email !== "user_1@example.com" || mayMailFirst;
    const run = mailed.mailJob(undefined, undefined, plans, mayMail);
    for (const userId of ["user_1", "user_2"]) await mailed.notify(userId);
    await run();
    expect(recipients(mailed)).toEqual(["<user_2@example.com>"]);
    await mailed.notify("user_1", "subscription_past_due");
    mayMailFirst = true;
    await mailed.age("15 minutes");
    await run();
    expect(recipients(mailed)).toEqual(["<user_1@example.com>", "<user_2@example.com>"]);
    const mail = mailed.smtp.mails.find(({ to }) => to === "<user_1@example.com>");
    expect(mail && readMail(mail).text).toMatch(/active[\s\S]*payment/);
    expect(await mailed.open()).toBe(0);
  });

  it("is mailed although mails cannot be counted: it is claimed, and would be lost", async () => {
    await mailed.notify("user_1");
    const mayMail = () => Promise.reject(new Error("no store"));
    expect(await mailed.mailJob(undefined, undefined, plans, mayMail)()).toBe("ok");
    expect(recipients(mailed)).toEqual(["<user_1@example.com>"]);
  });

  it("is not mailed when the user has opted out, is banned or deleted, or has read it", async () => {
    await mailed.test.rows(
      `update "user" set preferences = preferences || '{"emailNotifications": false}' where id = 'user_1'`,
    );
    await mailed.test.rows(`update "user" set banned = true where id in ('user_2', 'user_3')`);
    await mailed.test.rows(`update "user" set ban_expires = now() - interval '1 hour' where id = 'user_3'`);
    for (const id of ["user_1", "user_2", "user_3", "user_4", "user_59", "user_5"]) await mailed.notify(id);
    await markAllNotificationsRead(mailed.test.database, "user_4");
    await mailed.test.rows(`delete from "user" where id = 'user_59'`);
    await mailed.mailJob()();
    // An expired ban does not count.
    expect(recipients(mailed)).toEqual(["<user_3@example.com>", "<user_5@example.com>"]);
    expect(await mailed.open()).toBe(0);
    await mailed.test.rows(
      `update "user" set preferences = preferences || '{"emailNotifications": true}', banned = false`,
    );
    await mailed.mailJob()();
    expect(mailed.smtp.mails).toHaveLength(2);
  });

  it("is not mailed when it is a day old; overdue ones are logged for the operator", async () => {
    await mailed.test.rows(
      `update "user" set preferences = preferences || '{"emailNotifications": false}' where id = 'user_1'`,
    );
    await mailed.notify("user_1");
    await mailed.notify("user_2");
    await mailed.notify("user_3");
    await mailed.age("24 hours 1 second");
    await mailed.notify("user_3", "subscription_canceled");
    const run = mailed.mailJob();
    await run();
    await run();
    expect(mailed.smtp.mails.map((mail) => readMail(mail).subject)).toEqual(["Your subscription has ended"]);
    expect(lines.filter(({ level }) => level !== "info")).toEqual([
      {
        level: "error",
        fields: { notifications: 2 },
        message: "notifications not mailed within a day: given up",
      },
    ]);
    expect(await mailed.open()).toBe(0);
  });

  it("does not mail a notification from before a mail server was configured", async () => {
    for (let n = 0; n < 20; n += 1) await mailed.notify(`user_${n}`);
    await mailed.age("49 hours");
    await mailed.mailJob()();
    expect(mailed.smtp.verbs).toEqual([]);
    expect(lines).toEqual([]);
    expect(await mailed.open()).toBe(20);
  });

  it("cannot change the mail's recipient or headers by its content", async () => {
    const evil =
      "x\r\nBcc: evil@example.com\r\n\r\n.\r\nMAIL FROM:<evil@example.com>\u2028https://evil.example";
    await mailed.notify("user_1", "subscription_plan_changed", { from: evil, to: evil });
    await mailed.notify("user_2", "api_key_created", { name: evil, prefix: "tg_abcdefg" });
    await mailed.notify("user_3", "subscription_canceled", {});
    await mailed.mailJob()();
    expect(recipients(mailed)).toEqual([1, 2, 3].map((n) => `<user_${n}@example.com>`));
    for (const mail of mailed.smtp.mails) {
      const { head, text } = readMail(mail);
      expect(head).not.toMatch(/evil/);
      expect(text).not.toMatch(/^(Bcc|MAIL|\.$)/m);
    }
    const ofKey = mailed.smtp.mails.find(({ to }) => to === "<user_2@example.com>");
    expect(ofKey && readMail(ofKey).text).not.toMatch(/evil/);
  });
});

describe("several processes that send mail", () => {
  it("send each user one mail with all notifications when they run at once", async () => {
    for (let n = 0; n < 40; n += 1) {
      await mailed.notify(`user_${n}`);
      await mailed.notify(`user_${n}`, "role_changed", { role: "admin" });
    }
    const runs = Array.from({ length: 4 }, () => mailed.mailJob());
    await Promise.all(runs.map((run) => run()));
    await Promise.all(runs.map((run) => run()));
    expect(recipients(mailed)).toEqual(
      Array.from({ length: 40 }, (_, n) => `<user_${n}@example.com>`).sort(),
    );
    for (const mail of mailed.smtp.mails) {
      expect(readMail(mail).text).toMatch(
        /^Your Pro subscription is active\.\nYou’re now an administrator\.\n/,
      );
    }
  });

  it.each([
    ["before the mail is sent", "MAIL", 0],
    ["after the server has taken it", "BODY", 1],
  ])(
    "send no mail twice when one is killed %s, and go on with the next user's",
    async (_, verb, mailCount) => {
      let reached = 0;
      mailed.smtp.reply = async (command) => {
        if (command.verb !== verb || reached > 0) return undefined;
        reached += 1;
        return null;
      };
      await mailed.notify("user_1");
      const child = spawn(process.execPath, ["--input-type=module", "-e", LOOK], {
        env: { PATH: process.env.PATH, DATABASE: mailed.test.url, SMTP_URL: mailed.smtp.url },
        stdio: ["ignore", "inherit", "inherit"],
      });
      await eventually(async () => reached, 1);
      child.kill("SIGKILL");
      await once(child, "exit");
      expect(mailed.smtp.verbs.filter((verb) => verb === "BODY")).toHaveLength(mailCount);
      await mailed.notify("user_2");
      await mailed.mailJob()();
      expect(recipients(mailed)).toEqual(["<user_2@example.com>"]);
    },
  );

  it.each([
    ["a user that another process has locked", `select from "user" where id = 'user_1' for no key update`, 2],
    [
      "notifications that are being marked as read",
      "update notification set read_at = now() where user_id <> 'user_2'",
      1,
    ],
  ])("skip %s without waiting", async (_, hold, afterwards) => {
    await mailed.test.rows(
      `update "user" set preferences = '{"emailNotifications": false}' where id = 'user_3'`,
    );
    for (const id of ["user_1", "user_2", "user_3"]) await mailed.notify(id);
    const connection = await mailed.test.database.connection();
    try {
      await connection.script("begin");
      await connection.script(hold);
      await mailed.mailJob()();
      expect(mailed.smtp.mails.filter(({ to }) => to === "<user_1@example.com>")).toEqual([]);
      await connection.script("commit");
    } finally {
      connection.release({ healthy: false });
    }
    await mailed.mailJob()();
    expect(mailed.smtp.mails).toHaveLength(afterwards);
  });

  it("take over the rest of a process that is stopped", async () => {
    for (let n = 0; n < 5; n += 1) await mailed.notify(`user_${n}`);
    await mailed.mailJob()(() => mailed.smtp.mails.length === 2);
    expect(mailed.smtp.mails).toHaveLength(2);
    await mailed.mailJob()();
    expect(recipients(mailed)).toEqual([0, 1, 2, 3, 4].map((n) => `<user_${n}@example.com>`));
  });
});

/** One run, in a process of its own. */
const LOOK = `
const { notificationMail } = await import(${JSON.stringify(new URL("../../src/mail/mail-notifications.ts", import.meta.url).href)});
const { openDatabase } = await import(${JSON.stringify(new URL("../../src/store/database.ts", import.meta.url).href)});
const database = openDatabase({ url: process.env.DATABASE, prepared: false, maxConnections: 1, answerTimeoutMs: 30000 });
const log = { info() {}, warn() {}, error() {} };
await notificationMail({ database, smtpUrl: process.env.SMTP_URL, from: ${JSON.stringify(FROM)}, appUrl: ${JSON.stringify(APP_URL)}, plans: { plans: [] }, mayMail: async () => true, log })(() => false);
`;

describe("a mail server", () => {
  it("retries a server that is down with growing waits, and sends every mail once it is back", async () => {
    const port = Number(new URL(mailed.smtp.url).port);
    await mailed.smtp.close();
    await mailed.notify("user_1");
    await mailed.notify("user_2");
    let time = 0;
    const run = mailed.mailJob(undefined, () => time);
    const waits: number[] = [];
    for (; time < 100 * 60_000; time += 30_000) {
      const before = lines.length;
      await run();
      if (lines.length > before) waits.push(time / 60_000);
    }
    expect(waits).toEqual([0, 1, 3, 7, 15, 31, 61, 91]);
    expect(lines[0]).toEqual({
      level: "warn",
      fields: { code: "ECONNREFUSED", command: "CONN", pauseSeconds: 60 },
      message: "notifications cannot be mailed: check SMTP_URL",
    });
    expect(await mailed.open()).toBe(2);

    mailed.smtp = await smtpServer(undefined, port);
    time += 30 * 60_000;
    await run();
    expect(recipients(mailed)).toEqual(["<user_1@example.com>", "<user_2@example.com>"]);
    await mailed.smtp.close();
    await mailed.notify("user_1");
    await run();
    expect(lines.at(-1)?.fields).toMatchObject({ pauseSeconds: 60 });
    mailed.smtp = await smtpServer();
  });

  it("makes runs count as failed until it can be reached again", async () => {
    const port = Number(new URL(mailed.smtp.url).port);
    await mailed.smtp.close();
    await mailed.notify("user_1");
    let time = 0;
    const run = mailed.mailJob(undefined, () => time);
    const outcomes = [await run(), await run()];
    mailed.smtp = await smtpServer(undefined, port);
    time = 60_000;
    expect([...outcomes, await run(), await run()]).toEqual(["failed", "failed", "ok", "ok"]);
  });

  it("is tried again after a minute although the clock has been set back meanwhile", async () => {
    const port = Number(new URL(mailed.smtp.url).port);
    await mailed.smtp.close();
    await mailed.notify("user_1");
    const run = mailed.mailJob();
    expect(await run()).toBe("failed");
    mailed.smtp = await smtpServer(undefined, port);
    const [time, elapsed] = [Date.now(), performance.now()];
    const clocks = [
      vi.spyOn(Date, "now").mockReturnValue(time - 3_600_000),
      vi.spyOn(performance, "now").mockReturnValue(elapsed + 61_000),
    ];
    onTestFinished(() => clocks.forEach((clock) => void clock.mockRestore()));
    expect(await run()).toBe("ok");
    expect(recipients(mailed)).toEqual(["<user_1@example.com>"]);
  });

  it("is tried again at once where the wait was begun while the database's clock was ahead", async () => {
    mailed.smtp.reply = at("RCPT", "451 later");
    await mailed.notify("user_1");
    const run = mailed.mailJob();
    await run();
    mailed.smtp.reply = () => undefined;
    const setAheadBy = (interval: string) =>
      mailed.test.rows("update notification set mail_after = mail_after + $1::interval", [interval]);
    await setAheadBy("58 minutes");
    await run();
    expect(recipients(mailed)).toEqual([]);
    await setAheadBy("3 hours");
    await run();
    expect(recipients(mailed)).toEqual(["<user_1@example.com>"]);
  });

  it.each([
    ["refuses the connection in its greeting", "CONNECT", "554 not today"],
    ["disconnects before its greeting", "CONNECT", "hang up"],
    ["rejects the sender", "MAIL", "550 who are you"],
    ["closes the connection with 421", "RCPT", "421 <user_1@example.com> closing"],
    ["disconnects at the recipient", "RCPT", "hang up"],
    ["disconnects at the start of the data", "DATA", "hang up"],
  ])("sends the mail later to a server that %s", async (_, verb, answer) => {
    mailed.smtp.reply = at(verb, answer);
    await mailed.notify("user_1");
    let time = 0;
    const run = mailed.mailJob(undefined, () => time);
    await run();
    expect(lines).toMatchObject([
      { level: "warn", message: "notifications cannot be mailed: check SMTP_URL" },
    ]);
    expect(JSON.stringify(lines)).not.toContain("user_1");
    mailed.smtp.reply = () => undefined;
    await run();
    expect(mailed.smtp.mails).toEqual([]);
    time = 60_000;
    await mailed.age("1 minute");
    await run();
    expect(recipients(mailed)).toEqual(["<user_1@example.com>"]);
  });

  it("gets the others' mail first after the pause, when it disconnects at one recipient each time", async () => {
    mailed.smtp.reply = ({ line }) => (/RCPT.*user_1@/.test(line) ? "hang up" : undefined);
    await mailed.notify("user_1");
    await mailed.notify("user_2");
    let time = 0;
    const run = mailed.mailJob(undefined, () => time);
    expect(await run()).toBe("failed");
    time += 61_000;
    await mailed.test.rows(
      `update notification set created_at = created_at - interval '61 s', mail_after = mail_after - interval '61 s'`,
    );
    expect(await run()).toBe("ok");
    expect(recipients(mailed)).toEqual(["<user_2@example.com>"]);
    expect(await mailed.open()).toBe(1);
  });

  it("gives up on a server that does not respond after a timeout, and sends the mail later", async () => {
    mailed.smtp.reply = at("RCPT", null);
    await mailed.notify("user_1");
    await mailed.mailJob()();
    expect(lines).toMatchObject([{ level: "warn", fields: { code: "ETIMEDOUT" } }]);
    mailed.smtp.reply = () => undefined;
    await mailed.age("1 minute");
    await mailed.mailJob()();
    expect(recipients(mailed)).toEqual(["<user_1@example.com>"]);
  });

  it("logs in to a server that requires it, and retries later when the login is rejected", async () => {
    let isRight = false;
    mailed.smtp.reply = ({ verb, line }) => {
      if (verb === "EHLO") return "250-test\r\n250 AUTH PLAIN";
      if (verb !== "AUTH") return undefined;
      const credentials = Buffer.from(line.split(" ")[2] ?? "", "base64").toString();
      return isRight && credentials === "\0robot\0pass word" ? "235 come in" : "535 no";
    };
    await mailed.notify("user_1");
    const url = mailed.smtp.url.replace("//", "//robot:pass%20word@");
    await mailed.mailJob(url)();
    expect(lines).toMatchObject([{ level: "warn", fields: { code: "EAUTH", responseCode: 535 } }]);
    expect(JSON.stringify(lines)).not.toMatch(/robot|pass/);
    isRight = true;
    await mailed.mailJob(url)();
    expect(recipients(mailed)).toEqual(["<user_1@example.com>"]);
  });

  it("does not resend a mail that a server may have accepted before it disconnected", async () => {
    mailed.smtp.reply = at("BODY", "hang up");
    await mailed.notify("user_1");
    await mailed.mailJob()();
    mailed.smtp.reply = () => undefined;
    await mailed.age("10 minutes");
    await mailed.mailJob()();
    expect(mailed.smtp.mails).toEqual([]);
    expect(mailed.smtp.verbs.filter((verb) => verb === "BODY")).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      level: "error",
      message: expect.stringContaining("is not retried"),
    });
  });

  it.each([
    ["RCPT", "450 greylisted <user_1@example.com>"],
    ["BODY", "451 try again"],
  ])(
    "that rejects one mail temporarily (%s) gets the others now and this one later",
    async (verb, answer) => {
      let refusals = 0;
      mailed.smtp.reply = ({ verb: received, line }) =>
        received === verb && /user_1@/.test(line) && refusals++ < 3 ? answer : undefined;
      await mailed.notify("user_1");
      await mailed.notify("user_2");
      const run = mailed.mailJob();
      await run();
      await run();
      expect(recipients(mailed)).toEqual(["<user_2@example.com>"]);
      expect(refusals).toBe(1);
      const waits: number[] = [];
      for (const age of ["5 minutes", "3 hours", "1 minute"]) {
        await mailed.age(age);
        await run();
        const [row] = await mailed.test.rows<{ wait: number }>(
          "select round(extract(epoch from mail_after - now()))::int as wait from notification where mail_after < 'infinity'",
        );
        if (row) waits.push(row.wait);
      }
      // The wait counts from when it was stored, so that an hour of it is left.
      expect(waits[0]).toBeLessThanOrEqual(300 + 5);
      expect(waits[0]).toBeGreaterThan(60);
      expect(waits[1]).toBeLessThanOrEqual(3_600 + 5);
      expect(waits[1]).toBeGreaterThan(3_000);
      expect(waits).toHaveLength(2);
      expect(recipients(mailed)).toEqual(["<user_1@example.com>", "<user_2@example.com>"]);
      expect(JSON.stringify(lines)).not.toContain("example.com");
    },
  );

  it("does not resend a mail that was rejected permanently, but sends the others", async () => {
    mailed.smtp.reply = ({ line }) =>
      /RCPT.*user_1@/.test(line) ? "550 5.1.1 <user_1@example.com> unknown" : undefined;
    await mailed.notify("user_1");
    await mailed.notify("user_2");
    await mailed.mailJob()();
    await mailed.age("2 hours");
    await mailed.mailJob()();
    expect(recipients(mailed)).toEqual(["<user_2@example.com>"]);
    expect(mailed.smtp.verbs.filter((verb) => verb === "RCPT")).toHaveLength(2);
    expect(lines.filter(({ level }) => level === "warn")).toEqual([
      {
        level: "warn",
        fields: {
          notifications: [expect.any(String)],
          code: "EENVELOPE",
          command: "RCPT TO",
          responseCode: 550,
        },
        message: "mail rejected: not retried",
      },
    ]);
  });

  it("is not sent a mail to an invalid address, but gets the others", async () => {
    await mailed.test.rows(`update "user" set email = '' where id = 'user_1'`);
    await mailed.notify("user_1");
    await mailed.notify("user_2");
    await mailed.mailJob()();
    expect(recipients(mailed)).toEqual(["<user_2@example.com>"]);
    await mailed.test.rows(`update "user" set email = 'user_1@example.com' where id = 'user_1'`);
  });

  it("gets a hundred mails over a few connections", async () => {
    for (let round = 0; round < 2; round += 1) {
      for (let n = 0; n < 50; n += 1) await mailed.notify(`user_${n}`);
      await mailed.mailJob()();
    }
    expect(mailed.smtp.mails).toHaveLength(100);
    expect(mailed.smtp.verbs.filter((verb) => verb === "CONNECT").length).toBeLessThan(5);
  });
});

it("does not block users who read notifications while mail is sent", async () => {
  for (let round = 0; round < 10; round += 1) {
    for (let n = 0; n < 5; n += 1) for (const id of ["user_1", "user_2", "user_3"]) await mailed.notify(id);
    const runs = [mailed.mailJob(), mailed.mailJob()].map((run) => run());
    const reads = ["user_1", "user_2", "user_3", "user_3", "user_2", "user_1"].map((id) =>
      markAllNotificationsRead(mailed.test.database, id),
    );
    await Promise.all([...runs, ...reads]);
    expect(await mailed.open()).toBe(0);
  }
  expect(lines.filter(({ level }) => level !== "info")).toEqual([]);
});

it("leaves claimed notifications as mailed when the database disconnects before the result is stored", async () => {
  const database = openDatabase({
    url: mailed.test.url,
    prepared: false,
    maxConnections: 1,
    answerTimeoutMs: 30_000,
  });
  await mailed.notify("user_1");
  mailed.smtp.reply = async ({ verb }) => {
    if (verb !== "RCPT") return undefined;
    await database.close();
    return "450 later";
  };
  const log = { info() {}, warn() {}, error() {} };
  const run = notificationMail({
    database,
    smtpUrl: mailed.smtp.url,
    from: FROM,
    appUrl: APP_URL,
    plans: { plans: [] },
    mayMail: async () => true,
    log,
  });
  await expect(run(() => false)).rejects.toThrow();
  mailed.smtp.reply = () => undefined;
  await mailed.mailJob()();
  expect(mailed.smtp.mails).toEqual([]);
});
