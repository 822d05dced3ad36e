import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import plans from "../../plans.config.ts";
import type { NotificationKind } from "../../src/domain/notification.ts";
import type { PlanCatalog } from "../../src/domain/plan.ts";
import { notificationMail } from "../../src/mail/mail-notifications.ts";
import { insertNotifications } from "../../src/store/notifications.ts";
import { freshDatabase, type TestDatabase } from "../support/database.ts";
import { type Received, type Reply, type SmtpServer, smtpServer } from "../support/smtp-server.ts";

export const APP_URL = "https://app.example.com";
export const FROM = "Tollgate <no-reply@example.com>";

export type MailContext = {
  test: TestDatabase;
  smtp: SmtpServer;
  lines: { level: string; fields: Record<string, unknown>; message: string }[];
  /** One process's job that mails notifications; its clock is the test's. */
  mailJob(
    smtpUrl?: string,
    now?: () => number,
    catalog?: Pick<PlanCatalog, "plans">,
  ): (isStopping?: () => boolean) => Promise<void>;
  notify(userId: string, kind?: NotificationKind, details?: Record<string, string>): Promise<void>;
  /** Makes all notifications older, and ends any wait. */
  age(interval: string): Promise<void>;
  /** How many are still to be mailed. */
  open(): Promise<number>;
};

/** People, notifications and a mail server, for the tests of one file. */
export function mailContext(): MailContext {
  const made = { lines: [] } as unknown as MailContext;
  const line = (level: string) => (fields: object, message: string) => {
    made.lines.push({ level, fields: { ...fields }, message });
  };
  const log = { info: line("info"), warn: line("warn"), error: line("error") };
  beforeAll(async () => {
    made.test = await freshDatabase(60);
  });
  afterAll(() => made.test.drop());
  beforeEach(async () => {
    made.smtp = await smtpServer();
  });
  afterEach(async () => {
    await made.smtp.close();
    made.lines.length = 0;
    await made.test.rows("delete from notification");
    await made.test.rows(`update "user" set preferences = preferences || '{"emailNotifications": true}',
      banned = false, ban_expires = null, locale = 'en'`);
  });
  made.mailJob = (smtpUrl = made.smtp.url, now = Date.now, catalog = plans) => {
    const { database } = made.test;
    const options = { database, smtpUrl, from: FROM, appUrl: APP_URL, plans: catalog, log, now };
    const run = notificationMail(options);
    return (isStopping = () => false) => run(isStopping);
  };
  made.notify = (userId, kind = "subscription_activated", details = { planId: "pro" }) =>
    insertNotifications(made.test.database, [{ userId, kind, details }]);
  made.age = async (interval) => {
    await made.test.rows(
      `update notification set created_at = created_at - $1::interval,
         mail_after = case when mail_after < 'infinity' then now() end
       where mail_after is distinct from 'infinity'`,
      [interval],
    );
  };
  made.open = async () => {
    const [row] = await made.test.rows<{ count: number }>(
      "select count(*)::int as count from notification where read_at is null and mail_after is distinct from 'infinity'",
    );
    return row?.count ?? 0;
  };
  return made;
}

/** The subject and the text of a mail, decoded. */
export function readMail({ data }: Received): { subject: string; text: string; head: string } {
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

export function recipients({ smtp }: MailContext): string[] {
  return smtp.mails.map(({ to }) => to).sort();
}

export const at =
  (verb: string, given: string | null): Reply =>
  (asked) =>
    asked.verb === verb ? given : undefined;
