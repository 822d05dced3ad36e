import { readFileSync } from "node:fs";
import { createTranslator } from "next-intl";
import { refusalWords } from "../../../src/app/gate/refusal-words.ts";
import type { Verdict } from "./surface.ts";

// biome-ignore lint/suspicious/noExplicitAny: each part has words of its own
function part(name: string): any {
  const file = new URL(`../../../src/messages/en/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(file, "utf8"));
}

const words = createTranslator({ locale: "en", messages: part("refusals") }) as unknown as (
  key: string,
  values: Record<string, string | number>,
) => string;

/** How a form tells a person what the operation tells a program; `null`: who is not signed in is led on instead. */
export function inFormWords(sentence: string, verdict: Verdict): string | null {
  if (verdict === "unauthorized" || verdict === "ok") return null;
  const { key, values } = refusalWords(verdict, sentence);
  return words(key, values);
}

export const REPLAYED: Record<string, string> = part("adminWebhooks").replay;
