import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LOCALES } from "../../src/domain/locale.ts";
import { negotiateLocale } from "../../src/domain/negotiate-locale.ts";

describe("the language for a signed-out visitor", () => {
  it.each([
    [undefined, "en"],
    ["", "en"],
    ["*", "en"],
    ["fr", "en"],
    ["de", "de"],
    ["de-AT,de;q=0.9,en;q=0.8", "de"],
    ["fr-FR, es-MX;q=0.5, en;q=0.1", "es"],
    ["en;q=0.1, zh-Hant-TW;q=0.2", "zh"],
    ["DE-ch", "de"],
    ["es;Q=0.2, de; q=0.9", "de"],
    ["de;q=0, es;q=0.001", "es"],
    ["de;q=abc, es", "es"],
    ["de;q=0", "en"],
    ["den, esperanto, zhx", "en"],
    ["de,en", "de"],
    ["en,de", "en"],
  ])("negotiates for Accept-Language %j the locale %s", (header, locale) => {
    expect(negotiateLocale(header)).toBe(locale);
  });

  it("is a supported one for any header", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (header) => LOCALES.includes(negotiateLocale(header))),
    );
  });

  it("is found quickly in a very long header", () => {
    negotiateLocale("xx;q=0.1,".repeat(200_000));
    negotiateLocale(`de${" ".repeat(100_000)}x`);
  });
});
