import { createFormatter, createTranslator } from "next-intl";
import { describe, expect, it } from "vitest";
import { describeDetails } from "../../src/app/(account)/admin/audit/describe-details.ts";
import type { Locale } from "../../src/domain/locale.ts";
import { messagesIn } from "../../src/messages/messages.ts";

/** As the audit log shows them. */
async function shown(locale: Locale, details: Record<string, unknown>): Promise<Record<string, string>> {
  const options = { locale, messages: await messagesIn(locale), timeZone: "UTC" };
  const texts = { t: createTranslator(options), format: createFormatter(options) };
  // Some languages have narrow spaces before "AM" and in numbers.
  return Object.fromEntries(
    describeDetails(details, texts as never).map(({ label, value }) => [label, value.replace(/\s/g, " ")]),
  );
}

describe("the details of an audit entry", () => {
  it.each([
    ["en", { role: "admin" }, { Role: "Administrator" }],
    ["de", { role: "user" }, { Rolle: "Benutzer" }],
    [
      "en",
      { prefix: "tg_abc", expiresAt: "2027-03-04T05:06:07.000Z" },
      { "Key prefix": "tg_abc", "Expires on": "Mar 4, 2027, 5:06:07 AM UTC" },
    ],
    ["de", { expiresAt: "2027-03-04T15:06:07.000Z" }, { "Gültig bis": "04.03.2027, 15:06:07 UTC" }],
    ["es", { expiresAt: null }, { "Válida hasta": "Nunca" }],
    ["zh", { delivered: false, responseStatus: null }, { 是否送达: "否", 响应状态码: "–" }],
    [
      "en",
      { url: "https://example.com/hook", types: ["user.updated", "payment.paid"] },
      { URL: "https://example.com/hook", "Event types": "user.updated, payment.paid" },
    ],
    [
      "de",
      { created: 12000, updated: 0, notify: true },
      { Angelegt: "12.000", Geändert: "0", Benachrichtigt: "Ja" },
    ],
    [
      "en",
      {
        outcome: "corrected",
        changes: {
          status: ["paid", "partly_refunded"],
          periodEnd: [null, "2027-03-04T00:00:00.000Z"],
        },
      },
      {
        Outcome: "Corrected",
        Status: "Paid → Partly refunded",
        "Period end": "– → Mar 4, 2027, 12:00:00 AM UTC",
      },
    ],
    ["es", { revokedKeys: 2 }, { "Claves de API revocadas": "2" }],
    ["en", { reason: "2027-03-04T05:06:07.000Z" }, { Reason: "2027-03-04T05:06:07.000Z" }],
  ] as const)("are shown in words and localized: %s %j", async (locale, details, expected) => {
    expect(await shown(locale, details)).toEqual(expected);
  });

  it("are shown as stored when a later release has written them", async () => {
    expect(await shown("de", { outcome: "postponed", somethingNew: { a: 1 } })).toEqual({
      Ergebnis: "postponed",
      somethingNew: '{"a":1}',
    });
  });
});
