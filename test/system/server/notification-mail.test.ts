import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import plans from "../../../plans.config.ts";
import { fixtureDelivery } from "../../fixtures/fixture.ts";
import { freshDatabase, type TestDatabase } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { deliverWebhook, type HttpResponse, sendRequest } from "../../support/http.ts";
import { type ServerProcess, spawnServer } from "../../support/server-process.ts";
import { smtpServer } from "../../support/smtp-server.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { SECRETS } from "../../support/variables.ts";

const CRON_SECRET = "a-secret-of-sixteen-or-more-characters";

it("mails a payment's notifications when SMTP_URL is set, also during shutdown", {
  timeout: 120_000,
}, async () => {
  const [without, with_] = await Promise.all([freshDatabase(3), freshDatabase(3)]);
  const folder = await temporaryFolder();
  let answer = () => {};
  const smtp = await smtpServer(({ verb }) => {
    if (verb !== "BODY") return undefined;
    return new Promise((resolve) => {
      answer = () => resolve(undefined);
    });
  });
  const silent = await spawnServer(without.url, { DATA_DIR: folder, CRON_SECRET });
  const server = await spawnServer(with_.url, {
    SMTP_URL: smtp.url,
    APP_URL: "https://app.example.com",
    CRON_SECRET,
  });
  try {
    await Promise.all([pay(silent), pay(server)]);
    // Its own turn is half a minute away.
    expect((await runMailJob(silent)).body).toEqual({ job: "notification-mail", outcome: "disabled" });
    const run = runMailJob(server);
    await eventually(async () => smtp.verbs.filter((verb) => verb === "BODY").length, 1);
    const ended = server.end("SIGTERM");
    await eventually(async () => server.lines.some((line) => line.includes('"stopping"')), true);
    answer();
    expect(await ended).toEqual({ code: 0, signal: null });
    expect((await run).status).toBe(200);
    // As the reader's program joins the lines that quoted-printable folds.
    const mails = smtp.mails.map((mail) => ({ ...mail, data: mail.data.replace(/=\r?\n/g, "") }));
    expect(mails).toMatchObject([
      { to: "<user_1@example.com>", data: expect.stringContaining("https://app.example.com/billing") },
    ]);
    expect(server.lines.filter((line) => line.includes('"notifications mailed"'))).toHaveLength(1);
    expect(await states(with_)).toEqual(["infinity"]);

    expect(await states(without)).toEqual([null]);
    expect(existsSync(join(folder, "mail"))).toBe(false);
    await silent.end("SIGTERM");
  } finally {
    answer();
    server.child.kill("SIGKILL");
    silent.child.kill("SIGKILL");
    await smtp.close();
    await Promise.all([without.drop(), with_.drop()]);
  }
});

it("mails a user at the start, in the middle and a day before the end of the grace period, once each, in their language", {
  timeout: 120_000,
}, async () => {
  const test = await freshDatabase(3);
  await test.rows(`update "user" set locale = 'de' where id = 'user_1'`);
  const smtp = await smtpServer();
  const server = await spawnServer(test.url, {
    SMTP_URL: smtp.url,
    APP_URL: "https://app.example.com",
    CRON_SECRET,
  });
  const subjects = () => smtp.mails.map(({ data }) => /^Subject: (.*)\r$/m.exec(data)?.[1]);
  // Each job runs by itself too: whoever runs first, nobody is mailed twice.
  const mailsAfter = async (daysPastDue: number, expected: string[]) => {
    // The event has a cancellation too, before which nobody would be reminded.
    await test.rows(
      `update subscription set cancel_at_period_end = false,
         past_due_since = now() - $1::float8 * interval '1 day'`,
      [daysPastDue],
    );
    for (const job of ["grace-reminders", "notification-mail", "grace-reminders", "notification-mail"])
      await runJob(server, job);
    await eventually(async () => subjects(), expected);
  };
  try {
    await pay(server);
    await runJob(server, "notification-mail");
    await eventually(async () => subjects(), ["Ihr Abonnement ist aktiv"]);
    await pay(server, "past_due");
    const atOnce = ["Ihr Abonnement ist aktiv", "Eine Zahlung ist fehlgeschlagen"];
    await mailsAfter(0, atOnce);
    const { graceDays } = plans.plans.find(({ id }) => id === "pro") as { graceDays: number };
    const inTheMiddle = [...atOnce, "Eine Zahlung steht noch aus"];
    await mailsAfter(graceDays / 2, inTheMiddle);
    const aDayBefore = [...inTheMiddle, "Ihr Zugang endet bald"];
    await mailsAfter(graceDays - 1, aDayBefore);
    await mailsAfter(graceDays + 1, aDayBefore);
    expect(smtp.mails.at(-1)?.data).toContain("Ihr Zugang zu Pro endet am");
    expect(new Set(smtp.mails.map(({ to }) => to))).toEqual(new Set(["<user_1@example.com>"]));
    await server.end("SIGTERM");
  } finally {
    server.child.kill("SIGKILL");
    await smtp.close();
    await test.drop();
  }
});

/** Its timer may be running it at the same moment. */
async function runJob(server: ServerProcess, job: string): Promise<void> {
  const headers = { authorization: `Bearer ${CRON_SECRET}` };
  const outcome = async () =>
    (await sendRequest(server.url, "GET", `/api/cron/${job}`, { headers })).body.outcome;
  await eventually(outcome, "ok");
}

function runMailJob(server: ServerProcess): Promise<HttpResponse> {
  return sendRequest(server.url, "GET", "/api/cron/notification-mail", {
    headers: { authorization: `Bearer ${CRON_SECRET}` },
  });
}

async function pay(server: ServerProcess, status: "active" | "past_due" = "active"): Promise<void> {
  const kind = status === "active" ? "created" : "updated";
  const created = fixtureDelivery("stripe", `customer.subscription.${kind}`, {
    secret: SECRETS["provider-a"],
    nowSeconds: Math.floor(Date.now() / 1000),
    userId: "user_1",
    planId: "pro",
    priceId: "price_pro_monthly",
    status,
  });
  expect((await deliverWebhook(server.url, "provider-a", created)).status).toBe(200);
}

async function states(test: TestDatabase): Promise<(string | null)[]> {
  const rows = await test.rows<{ state: string | null }>(
    "select mail_after::text as state from notification",
  );
  return rows.map(({ state }) => state);
}
