import { LOCALES, type Locale } from "../domain/locale.ts";
import type mails from "./en/mails.json";

/** The texts of mails in a language; English for one that is no longer supported. */
export async function mailTexts(locale: Locale) {
  const supported = LOCALES.includes(locale) ? locale : "en";
  // Loaded with the first mail: most processes that import this file send none.
  const { createTranslator } = await import("next-intl");
  const { default: messages } = await import(`./${supported}/mails.json`, { with: { type: "json" } });
  return createTranslator({
    locale: supported,
    messages: messages as typeof mails,
    timeZone: "UTC",
    onError: (error) => {
      throw error;
    },
  });
}
