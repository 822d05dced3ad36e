import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { LOCALES, type Locale } from "../../src/domain/locale.ts";

const FOLDER = join(import.meta.dirname, "../../src/messages");

/** Every text of a language by its key, `<part>.<key>`, in the order of its files. */
export function textsIn(locale: Locale): Map<string, string> {
  const files = readdirSync(join(FOLDER, locale)).sort();
  return new Map(
    files.flatMap((file) => {
      const messages: unknown = JSON.parse(readFileSync(join(FOLDER, locale, file), "utf8"));
      return leaves(file.replace(/\.json$/, ""), messages);
    }),
  );
}

function leaves(key: string, value: unknown): [string, string][] {
  if (typeof value === "string") return [[key, value]];
  return Object.entries(value as object).flatMap(([name, inner]) => leaves(`${key}.${name}`, inner));
}

export const TRANSLATIONS = LOCALES.filter((locale) => locale !== "en");

/** What a text is filled with: the names and kinds of its arguments, as ICU MessageFormat writes them, and its tags. */
export function argumentsOf(text: string): string[] {
  const found = new Set([...text.matchAll(/<(\w+)>/g)].map(([, name]) => `${name} (tag)`));
  let at = 0;
  const message = () => {
    for (; at < text.length && text[at] !== "}"; at += 1) if (text[at] === "{") argument();
  };
  const argument = () => {
    const [whole, name, kind = "text"] = /^\{\s*(\w+)\s*(?:,\s*(\w+))?/.exec(text.slice(at)) ?? [""];
    if (name === undefined) throw new Error(`not an argument: ${text.slice(at)}`);
    found.add(`${name} (${kind})`);
    at += whole.length;
    for (; at < text.length && text[at] !== "}"; at += 1) {
      if (text[at] !== "{") continue;
      at += 1;
      message();
    }
  };
  message();
  if (at < text.length) throw new Error(`a } too many: ${text}`);
  return [...found].sort();
}
