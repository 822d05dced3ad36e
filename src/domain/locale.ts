/** Supported languages as BCP 47 tags. */
export const LOCALES = ["en", "de", "es", "zh"] as const;

export type Locale = (typeof LOCALES)[number];
