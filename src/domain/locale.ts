/** Supported languages as BCP 47 tags. */
export const LOCALES = ["en", "de", "es", "zh"] as const;

export type Locale = (typeof LOCALES)[number];

/** The language of a BCP 47 tag, also with `_` as operating systems write it: "de-AT" and "de_AT" are "de". */
export function languageOf(tag: string): string {
  return tag.toLowerCase().split(/[-_]/, 1)[0] as string;
}

/** The language of a tag; `null`: it is none, or one without a translation. */
export function supportedLocale(value: unknown): Locale | null {
  if (typeof value !== "string") return null;
  const language = languageOf(value);
  return LOCALES.find((locale) => locale === language) ?? null;
}
