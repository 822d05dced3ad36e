/** The languages that the product speaks, as BCP 47 names them. */
export const LOCALES = ["en", "de", "es", "zh"] as const;

export type Locale = (typeof LOCALES)[number];
