import { type Locale, supportedLocale } from "./locale.ts";

const DEFAULT: Locale = "en";

/** The first supported language of an Accept-Language header; RFC 9110, section 12.5.4. */
export function negotiateLocale(acceptLanguage: string | undefined): Locale {
  const preferences = (acceptLanguage ?? "")
    .slice(0, 500)
    .split(",")
    .map((range) => {
      const [name = "", weight] = range.trim().split(/\s*;\s*q=/i);
      return { name, weight: weight === undefined ? 1 : Number(weight) || 0 };
    })
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight);
  for (const { name } of preferences) {
    const locale = supportedLocale(name);
    if (locale !== null) return locale;
  }
  return DEFAULT;
}
