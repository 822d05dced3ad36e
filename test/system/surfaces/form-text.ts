import { readFileSync } from "node:fs";
import { createTranslator } from "next-intl";
import { sentenceKey } from "../../../src/messages/sentence-key.ts";
import type { ShownReason, Verdict } from "./surface.ts";

// biome-ignore lint/suspicious/noExplicitAny: each part has words of its own
function part(name: string): any {
  const file = new URL(`../../../src/messages/en/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(file, "utf8"));
}

const words = createTranslator({ locale: "en", messages: part("refusals") }) as unknown as (
  key: string,
  values: Record<string, string | number>,
) => string;

/** The text that a form shows for a refusal; `null`: redirects to the sign-in page instead. */
export function formText(_: string, verdict: Verdict, reason: ShownReason | null): string | null {
  if (verdict === "unauthorized" || verdict === "ok" || reason === null) return null;
  const { key, values } = sentenceKey(reason);
  return words(key, values);
}

const eventEndpoints = createTranslator({
  locale: "en",
  messages: part("adminEventEndpoints"),
}) as unknown as (key: string, values: Record<string, number>) => string;

export function replayedText(count: number): string {
  return eventEndpoints("log.replayed", { count });
}

export const REPLAYED: Record<string, string> = part("adminWebhooks").replay;
