import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { RunningServer } from "../../../src/server.ts";
import { builtPages } from "../../support/built-pages.ts";
import { sendRequest } from "../../support/http.ts";
import { startTestServer } from "../../support/server.ts";
import { type SmtpServer, smtpServer } from "../../support/smtp-server.ts";
import { testDatabase } from "../../support/test-database.ts";
import { GENEROUS_LIMITS } from "../../support/variables.ts";
import { APP_URL, openPage, sendForm } from "./open-page.ts";

const test = testDatabase();
let smtp: SmtpServer;
let server: RunningServer;
beforeAll(async () => {
  await builtPages();
  smtp = await smtpServer();
  const mail = { SMTP_URL: smtp.url, MAIL_FROM: "no-reply@example.com", REQUIRE_EMAIL_CONFIRMATION: "on" };
  server = await startTestServer(test.url, { APP_URL, ...GENEROUS_LIMITS, ...mail });
}, 180_000);
afterAll(async () => {
  await server.close();
  await smtp.close();
});

const password = "a password of some length";
let people = 0;

/** Signs up, and returns the path of the link in the mail. */
async function signedUp({ from = "/sign-up" } = {}): Promise<{ email: string; link: string }> {
  people += 1;
  const email = `person-${people}@example.com`;
  await sendForm(server.url, from, "", { on: "Create account", fields: { name: "Ada", email, password } });
  const data = await vi.waitFor(
    () => smtp.mails.find(({ to }) => to.includes(email))?.data ?? Promise.reject(new Error("no mail yet")),
    30_000,
  );
  const text = data.replaceAll("=\r\n", "").replaceAll("=3D", "=");
  const { origin, pathname, search } = new URL(/https:\S+/.exec(text)?.[0] ?? "");
  expect(origin).toBe(APP_URL);
  return { email, link: pathname + search };
}

const signInStatus = async (email: string) =>
  (await sendRequest(server.url, "POST", "/api/auth/sign-in/email", { body: { email, password } })).status;
const confirm = async (link: string) =>
  (await sendForm(server.url, link, "", { on: "Confirm address", fields: {} })).location;

describe("the link that confirms an email address", () => {
  it("confirms by its button, not when a mail scanner opens it", async () => {
    const { email, link } = await signedUp();
    const { status, text } = await openPage(server.url, link, "");
    expect([status, text]).toEqual([200, expect.stringContaining("Confirm only if you signed up yourself.")]);
    expect(await signInStatus(email)).toBe(403);
    expect(await confirm(link)).toBe("/verify-email?done=");
    expect(await signInStatus(email)).toBe(200);
    // Pressed twice.
    expect(await confirm(link)).toBe("/verify-email?done=");
  });

  it("leads on to the page that was asked for, never to another site", async () => {
    const { link } = await signedUp({ from: "/sign-up?next=%2Fsettings" });
    const [start] = link.split("&callbackURL=") as [string];
    expect(await confirm(link)).toBe("/verify-email?done=&next=%2Fsettings");
    for (const elsewhere of [
      "https://evil.example/",
      "//evil.example",
      "/.//evil.example",
      "/\\evil.example",
    ])
      expect(await confirm(`${start}&callbackURL=${encodeURIComponent(elsewhere)}`)).toBe(
        "/verify-email?done",
      );
  });

  it("is accepted when cut short, unless its token is cut", async () => {
    const { email, link } = await signedUp();
    const cut = link.slice(0, link.indexOf("token=") + 20);
    const refused = await sendForm(server.url, cut, "", { on: "Confirm address", fields: {} });
    expect(refused.location).toBe("/verify-email?error");
    const { text } = await openPage(server.url, "/verify-email?error", "");
    expect(text).toContain("Sign in and we’ll send you a new one.");
    expect(await signInStatus(email)).toBe(403);
    const cutAt = (end: string) => link.slice(0, link.indexOf(end));
    for (const start of [cutAt("&callback"), cutAt("%3Fdone"), cutAt("3Fdone"), `${cutAt("%3Fdone")}%253`])
      expect(await confirm(start)).toBe("/verify-email?done");
    expect(await signInStatus(email)).toBe(200);
  });
});
