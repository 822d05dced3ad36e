import type { Locale } from "../../domain/locale.ts";

/** Each language's name in itself, so that its speakers can read it. */
export const LANGUAGE_NAMES: Record<Locale, string> = {
  en: "English",
  de: "Deutsch",
  es: "Español",
  zh: "中文",
};
