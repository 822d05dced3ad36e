/** Supported languages as BCP 47 tags. */
export const LOCALES = ["en", "de", "es", "zh"] as const;

export type Locale = (typeof LOCALES)[number];

/** The translation for a BCP 47 tag, as below; `null`: it is no tag, or there is none in its language. */
export function supportedLocale(value: unknown): Locale | null {
  return typeof value === "string" ? closestTag(value, LOCALES) : null;
}

/**
 * For "zh-Hant-TW", also with `_` as operating systems write it, "zh-Hant", else "zh" (RFC 4647, section 3.4), else that
 * of another region.
 */
export function closestTag<Tag extends string>(value: string, tags: readonly Tag[]): Tag | null {
  const wanted = value.toLowerCase().replaceAll("_", "-");
  for (let range = wanted; range !== ""; range = range.slice(0, Math.max(0, range.lastIndexOf("-")))) {
    const equal = tags.find((tag) => tag.toLowerCase() === range);
    if (equal !== undefined) return equal;
  }
  const language = `${wanted.split("-", 1)[0]}-`;
  return tags.find((tag) => tag.toLowerCase().startsWith(language)) ?? null;
}
