import { describe, expect, it } from "vitest";
import { formatPrice } from "../../src/ui/price.ts";

describe("a price", () => {
  it.each([
    ["en", 2000, "EUR", "€20"],
    ["en", 2050, "EUR", "€20.50"],
    ["de", 2050, "EUR", "20,50 €"],
    ["de", 1_234_500, "EUR", "12.345 €"],
    ["es", 2050, "EUR", "20,50 €"],
    ["zh", 2000, "USD", "US$20"],
    // The smallest unit is the yen itself, and a thousandth of a dinar.
    ["en", 2000, "JPY", "¥2,000"],
    ["en", 2500, "KWD", "KWD 2.500"],
    ["en", 0, "EUR", "€0"],
    // Providers count filler, centavo and sen, which Unicode's data leaves out in writing.
    ["en", 399_000, "HUF", "HUF 3,990"],
    ["en", 3_990_050, "COP", "COP 39,900.50"],
    ["de", 4_900_000, "IDR", "49.000 IDR"],
    // Stripe counts hundredths of both, which nobody can pay.
    ["en", 500_000, "ISK", "ISK 5,000"],
    ["en", 3_700_000, "UGX", "UGX 37,000"],
  ])("in %s: %i of the smallest unit of %s, written %s", (locale, amount, currency, text) => {
    expect(formatPrice(locale, { amount, currency }).replaceAll("\u00a0", " ")).toBe(text);
  });
});
