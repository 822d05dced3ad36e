import { describe, expect, it } from "vitest";
import { accountMail } from "../../src/auth/account-mail.ts";
import { LOCALES } from "../../src/domain/locale.ts";
import { type Accounts, accounts, PASSWORD } from "./accounts.ts";

const URL_ = "https://app.example.com/link?token=abc";
const MAILS = [
  { kind: "password_reset", url: URL_ },
  { kind: "email_confirmation", url: URL_ },
  { kind: "existing_account" },
  { kind: "email_change_old", url: URL_, newEmail: "new@example.com" },
  { kind: "email_change_new", url: URL_ },
  { kind: "email_changed", newEmail: "new@example.com" },
  { kind: "password_changed" },
  { kind: "two_factor_enabled" },
  { kind: "two_factor_disabled" },
  { kind: "backup_codes_created" },
] as const;

describe("an account mail", () => {
  it.each(MAILS)("has a subject and a text for $kind in each language", async (mail) => {
    const mails = await Promise.all(LOCALES.map((locale) => accountMail("to@example.com", locale, mail)));
    for (const { to, subject, text } of mails) {
      expect(to).toBe("to@example.com");
      expect(subject).toMatch(/^[^\n{}]{5,60}$/);
      expect(text).toMatch(/[^\n]\n$/);
      // On a line of its own, to be opened or copied.
      if ("url" in mail) expect(text.split("\n")).toContain(URL_);
      if ("newEmail" in mail) expect(text).toContain("new@example.com");
      expect(text).not.toMatch(/[{}]/);
    }
    expect(new Set(mails.map(({ subject }) => subject)).size).toBe(LOCALES.length);
    expect(new Set(mails.map(({ text }) => text)).size).toBe(LOCALES.length);
  });
});

describe("the language of an account mail", () => {
  const confirming = accounts({ requireConfirmation: true });
  const context = accounts();
  const subjects = ({ mails }: Accounts, to: string) =>
    mails.filter((mail) => mail.to === to).map(({ subject }) => subject);

  it("is the browser's at sign-up, and the stored one from then on", async () => {
    const body = { name: "Person", email: "german@example.com", password: PASSWORD };
    const german = { "accept-language": "de-DE,de;q=0.9" };
    expect((await confirming.call("/sign-up/email", body, german)).status).toBe(200);
    const spanish = { "accept-language": "es" };
    await confirming.call("/sign-up/email", body, spanish);
    await confirming.call("/request-password-reset", { email: body.email }, spanish);
    expect(subjects(confirming, body.email)).toEqual([
      "Bestätigen Sie Ihre E-Mail-Adresse",
      "Sie haben bereits ein Konto",
      "Passwort zurücksetzen",
    ]);
  });

  it("is the person's own in mails about a change of the address", async () => {
    const { email, cookie } = await context.signedUp();
    await context.test.rows(`update "user" set locale = 'zh' where email = $1`, [email]);
    const response = await context.call("/change-email", { newEmail: "other@example.com" }, { cookie });
    expect(response.status).toBe(200);
    expect(subjects(context, email).at(-1)).toBe("确认更改您的电子邮件地址");
    expect(subjects(context, "other@example.com")).toEqual(["确认您的新电子邮件地址"]);
  });
});
