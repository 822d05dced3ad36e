import { describe, expect, it } from "vitest";
import plans from "../../plans.config.ts";
import { LOCALES } from "../../src/domain/locale.ts";
import { NOTIFICATION_KINDS } from "../../src/domain/notifications/notification.ts";
import { notificationEmail } from "../../src/mail/notification-email.ts";

const CONTEXT = { appUrl: "https://app.example.com", plans };
const DETAILS = {
  planId: "pro",
  from: "pro",
  to: "team",
  name: "first",
  prefix: "tg_abcdefg",
  role: "admin",
};
const mail = { to: "person@example.com", locale: "en" as const, ageSeconds: 0 };

describe("the notification mail", () => {
  it.each(NOTIFICATION_KINDS)("has a text of its own for %s in each language", async (kind) => {
    const notifications = [{ id: "1", kind, details: DETAILS }];
    const mails = await Promise.all(
      LOCALES.map((locale) => notificationEmail({ ...mail, locale, notifications }, CONTEXT)),
    );
    for (const { text, subject, to } of mails) {
      expect(to).toBe("person@example.com");
      expect(subject).toMatch(/^[^\n]{5,60}$/);
      expect(text.split("\n\n")).toHaveLength(3);
      expect(text).toMatch(/\nhttps:\/\/app\.example\.com\/(billing|api-keys|dashboard|settings)\n/);
      expect(text).toMatch(/\nhttps:\/\/app\.example\.com\/settings\n$/);
      expect(text).not.toMatch(/undefined|\$\{|first/);
      if (kind.startsWith("subscription")) expect(text).toMatch(/Pro/);
    }
    for (const part of [0, 1, 2]) {
      const openings = mails.map(({ text }) => text.split("\n\n")[part]?.split("\n")[0]);
      expect(new Set(openings).size).toBe(LOCALES.length);
    }
    expect(new Set(mails.map(({ subject }) => subject)).size).toBe(LOCALES.length);
  });

  it("is in English when the user's language is no longer supported", async () => {
    const notifications = [{ id: "1", kind: "role_changed" as const, details: { role: "user" } }];
    const { text } = await notificationEmail({ ...mail, locale: "fr" as "en", notifications }, CONTEXT);
    expect(text).toMatch(/^You’re no longer an administrator\.\n/);
  });

  it("lists the first of very many notifications, and links to the rest", async () => {
    const notifications = Array.from({ length: 500 }, (_, n) => ({
      id: String(n),
      kind: "api_key_created" as const,
      details: { prefix: `tg_${n}_` },
    }));
    const { text } = await notificationEmail({ ...mail, notifications }, CONTEXT);
    expect(text).toMatch(/tg_19_….*\nAnd 480 more\.\n\nSee the details:\n.*\/api-keys\n.*\/notifications\n/);
  });

  it.each([
    ["en", "March 4, 2030", "Your access ends soon"],
    ["de", "4. März 2030", "Ihr Zugang endet bald"],
    ["es", "4 de marzo de 2030", "Tu acceso termina pronto"],
    ["zh", "2030年3月4日", "您的访问权限即将到期"],
  ] as const)(
    "names in %s the day (UTC) on which access ends, which may be today",
    async (locale, day, about) => {
      const details = { planId: "pro", endsAt: "2030-03-04T23:59:59.000Z" };
      const notifications = [{ id: "1", kind: "grace_period_ending" as const, details }];
      const { subject, text } = await notificationEmail({ ...mail, locale, notifications }, CONTEXT);
      expect(subject).toBe(about);
      expect(text.split("\n")[0]).toContain(day);
    },
  );

  it("shortens a long plan id between characters", async () => {
    const planId = `x${"😀".repeat(60)}`;
    const notifications = [{ id: "1", kind: "subscription_canceled" as const, details: { planId } }];
    const { text } = await notificationEmail({ ...mail, notifications }, CONTEXT);
    expect(text).toContain(`x${"😀".repeat(59)}`);
    expect(text.isWellFormed()).toBe(true);
  });
});
