import { LOCALES, type Locale } from "../domain/locale.ts";
import type calendar from "./en/calendar.json";

/** The texts of calendars in a language; English for one that is no longer supported. */
export async function calendarTexts(locale: Locale) {
  const supported = LOCALES.includes(locale) ? locale : "en";
  // Loaded with the first calendar: most processes that import this file serve none.
  const { createTranslator } = await import("next-intl");
  const { default: messages } = await import(`./${supported}/calendar.json`, { with: { type: "json" } });
  return createTranslator({
    locale: supported,
    messages: messages as typeof calendar,
    onError: (error) => {
      throw error;
    },
  });
}
