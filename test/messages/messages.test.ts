import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createTranslator } from "next-intl";
import { describe, expect, it } from "vitest";
import { LOCALES, type Locale } from "../../src/domain/locale.ts";
import { OUTBOUND_FAILURES } from "../../src/domain/outbound/outbound-failure.ts";

const FOLDER = join(import.meta.dirname, "../../src/messages");

/** Every text of a language by its key, `<part>.<key>`, in the order of its files. */
function textsIn(locale: Locale): Map<string, string> {
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

const TRANSLATIONS = LOCALES.filter((locale) => locale !== "en");

/**
 * What a text is filled with: the names and kinds of its arguments, as ICU MessageFormat writes them, and its
 * tags.
 */
function argumentsOf(text: string): string[] {
  const placeholders = new Set([...text.matchAll(/<(\w+)>/g)].map(([, name]) => `${name} (tag)`));
  let at = 0;
  const message = () => {
    for (; at < text.length && text[at] !== "}"; at += 1) if (text[at] === "{") argument();
  };
  const argument = () => {
    const [whole, name, kind = "text"] = /^\{\s*(\w+)\s*(?:,\s*(\w+))?/.exec(text.slice(at)) ?? [""];
    if (name === undefined) throw new Error(`not an argument: ${text.slice(at)}`);
    placeholders.add(`${name} (${kind})`);
    at += whole.length;
    for (; at < text.length && text[at] !== "}"; at += 1) {
      if (text[at] !== "{") continue;
      at += 1;
      message();
    }
  };
  message();
  if (at < text.length) throw new Error(`a } too many: ${text}`);
  return [...placeholders].sort();
}

const english = textsIn("en");

/** Texts that a language has in common with English. */
const COMMON: Record<(typeof TRANSLATIONS)[number], readonly string[]> = {
  de: [
    "Tollgate",
    "URL",
    "Webhooks",
    "Webhook",
    "Name",
    "Administrator",
    "Status",
    "Details",
    "Live",
    "Payload",
    "Code",
    "Import",
  ],
  es: ["Tollgate", "URL", "Webhooks", "Plan", "No"],
  zh: ["Tollgate", "URL"],
};

describe.each(TRANSLATIONS)("the texts in %s", (locale) => {
  const texts = textsIn(locale);

  it("have the same keys as in English, in the same order", () => {
    expect([...texts.keys()]).toEqual([...english.keys()]);
  });

  it("have the same parameters as in English", () => {
    const different = [...texts].filter(
      ([key, text]) => String(argumentsOf(text)) !== String(argumentsOf(english.get(key) ?? "")),
    );
    expect(different).toEqual([]);
  });

  it("are translated", () => {
    const untranslated = [...texts].filter(([key, text]) => text === english.get(key) && hasWords(text));
    expect(untranslated.filter(([, text]) => !COMMON[locale].includes(text))).toEqual([]);
  });

  it("have no leading or trailing space", () => {
    expect([...texts].filter(([, text]) => text !== text.trim() || text === "")).toEqual([]);
  });
});

describe.each(["en", ...TRANSLATIONS] as const)("each text in %s", (locale) => {
  it.each([0, 1, 2, 1_000])("can be formatted with the number %i", (amount) => {
    const problems: string[] = [];
    for (const [key, text] of textsIn(locale)) {
      const values = argumentsOf(text).map((argument) => {
        const [name, kind = ""] = argument.split(/ \(|\)/);
        return [name, EXAMPLES[kind] ?? amount];
      });
      const { markup } = createTranslator({
        locale,
        messages: { text },
        timeZone: "UTC",
        onError: (error) => problems.push(`${key}: ${error.message}`),
      });
      const rendered = markup("text", Object.fromEntries(values));
      if (/[{}#]/.test(rendered)) problems.push(`${key}: ${rendered}`);
    }
    expect(problems).toEqual([]);
  });
});

/** What texts are filled with that are not amounts. */
const EXAMPLES: Record<string, unknown> = {
  text: "x",
  select: "x",
  date: new Date(0),
  tag: (inner: string) => inner,
};

it("has in Chinese a space before a date, which begins with a digit, and none after it", () => {
  const texts = [...textsIn("zh")].filter(([, text]) => /\p{sc=Han}\{date\}|\{date\} \p{sc=Han}/u.test(text));
  expect(texts).toEqual([]);
});

it("says in English as the API why an event was not sent", () => {
  const failures = Object.keys(OUTBOUND_FAILURES).map((name) => [
    name,
    english.get(`adminEventEndpoints.failures.${name}`),
  ]);
  expect(Object.fromEntries(failures)).toEqual(OUTBOUND_FAILURES);
});

describe.each(["en", ...TRANSLATIONS] as const)("the names of buttons in %s", (locale) => {
  const texts = textsIn(locale);

  // Whoever speaks to a browser says what a button shows.
  it.each([
    ["adminServiceKeys.rotate.button", "adminServiceKeys.rotate.which"],
    ["adminSubscriptions.compareShort", "adminSubscriptions.compareWhich"],
    ["adminEventEndpoints.log.replay", "adminEventEndpoints.log.replayWhich"],
    ["notifications.mark", "notifications.markOne"],
    ["security.sessions.revoke", "security.sessions.revokeWhich"],
  ])("contain what the button shows: %s", (shown, name) => {
    const [button = "-", whole = ""] = [shown, name].map((key) => texts.get(key)?.toLowerCase());
    expect(whole).toContain(button);
  });
});

describe("the parameters of a text", () => {
  it.each([
    ["nothing", []],
    ["{name}", ["name (text)"]],
    ["<b>{name}</b><br></br>", ["b (tag)", "br (tag)", "name (text)"]],
    [
      "{count, plural, one {# seat of {plan}} other {# seats of {plan}}} for {price, number}",
      ["count (plural)", "plan (text)", "price (number)"],
    ],
    ["{kind, select, a {one} other {more}} {at, date, medium}", ["at (date)", "kind (select)"]],
  ])("%s: %j", (text, names) => {
    expect(argumentsOf(text)).toEqual(names);
  });
});

/** Whether a text has words besides its arguments. */
function hasWords(text: string): boolean {
  return /\p{L}/u.test(text.replace(/\{\w+\}/g, ""));
}
