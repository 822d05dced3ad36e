import type { Locale } from "../../domain/locale.ts";

/** Each language in itself, so that whoever needs it can read it. */
export const LANGUAGE_NAMES: Record<Locale, string> = {
  en: "English",
  de: "Deutsch",
  es: "Español",
  zh: "中文",
};
