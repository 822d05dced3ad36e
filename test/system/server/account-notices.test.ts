import { afterAll, beforeAll, expect, it } from "vitest";
import { freshDatabase, type TestDatabase } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { sendRequest } from "../../support/http.ts";
import { cookieOf } from "../../support/people.ts";
import { spawnServer } from "../../support/server-process.ts";
import { type SmtpServer, smtpServer } from "../../support/smtp-server.ts";

const EMAIL = "owner@example.com";
const SUBJECT = "Your account has a new password";
const PASSWORD = "correct horse battery";
const CRON_SECRET = "a-secret-of-sixteen-or-more-characters";

let test: TestDatabase;
let smtp: SmtpServer;
beforeAll(async () => {
  test = await freshDatabase(0);
  smtp = await smtpServer();
});
afterAll(() => Promise.all([test.drop(), smtp.close()]));

const startServer = () => spawnServer(test.url, { SMTP_URL: smtp.url, CRON_SECRET });
const runMailJob = (url: string) =>
  sendRequest(url, "GET", "/api/cron/notification-mail", {
    headers: { authorization: `Bearer ${CRON_SECRET}` },
  });
const subjects = () => smtp.mails.map(({ data }) => /^Subject: (.*)\r$/m.exec(data)?.[1]);
const aQuarterOfAnHourLater = () =>
  test.rows("update account_notice set send_after = send_after - interval '15 minutes'");

it("mails that a password was changed although the mail server was away and the server has crashed", {
  timeout: 180_000,
}, async () => {
  smtp.reply = ({ verb }) => (verb === "RCPT" ? "450 try again later" : undefined);
  const crashing = await startServer();
  const post = (path: string, body: object, cookie = "") =>
    sendRequest(crashing.url, "POST", path, { body, cookie });
  const signedUp = await post("/api/auth/sign-up/email", { name: "Owner", email: EMAIL, password: PASSWORD });
  const thief = cookieOf(signedUp);
  const change = { currentPassword: PASSWORD, newPassword: "a password of the thief's own" };
  const changed = await post("/api/auth/change-password", change, thief);
  expect(changed.status).toBe(200);
  // Neither holds the mail back.
  await test.rows(`update "user" set preferences = '{"emailNotifications": false}'`);
  await test.rows("update notification set read_at = now()");
  await eventually(async () => crashing.lines.some((line) => line.includes("mail deferred")), true);
  // Its job leaves alone what waits in its memory.
  await aQuarterOfAnHourLater();
  expect((await runMailJob(crashing.url)).status).toBe(200);
  const retriesIn = (seconds: number) =>
    crashing.lines.filter((line) => line.includes(`"retryInSeconds":${seconds},`)).length;
  await eventually(async () => retriesIn(30), 1, 30_000);
  expect(retriesIn(5)).toBe(1);
  await crashing.end("SIGKILL");

  smtp.reply = () => undefined;
  const next = await startServer();
  expect((await runMailJob(next.url)).status).toBe(200);
  // The first server could still be sending it.
  expect(smtp.mails).toEqual([]);
  await aQuarterOfAnHourLater();
  await runMailJob(next.url);
  await eventually(async () => subjects(), [SUBJECT]);
  expect(smtp.mails[0]?.to).toBe(`<${EMAIL}>`);
  await eventually(() => test.rows("select from account_notice"), []);
  await aQuarterOfAnHourLater();
  await runMailJob(next.url);
  expect((await next.end("SIGTERM")).code).toBe(0);
  expect(subjects()).toEqual([SUBJECT]);
});
