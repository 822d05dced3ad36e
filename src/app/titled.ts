import type { Metadata } from "next";
import { getTranslations } from "next-intl/server";

type MessageKey = Parameters<Awaited<ReturnType<typeof getTranslations<never>>>>[0];

/** The `generateMetadata` of a page whose title is a message, by its key. */
export function titled(key: MessageKey): () => Promise<Metadata> {
  return async () => ({ title: (await getTranslations())(key) });
}
