import { getRequestConfig } from "next-intl/server";
import type { Locale } from "../../domain/locale.ts";
import { negotiateLocale } from "../../domain/negotiate-locale.ts";
import { messagesIn } from "../../messages/messages.ts";
import { profile } from "../gate/read.ts";
import { currentRequest } from "../gate/request.ts";

/** The page's language: the user's choice, else the browser's. */
export default getRequestConfig(async () => {
  const locale = await chosen();
  return { locale, messages: await messagesIn(locale), timeZone: "UTC" };
});

async function chosen(): Promise<Locale> {
  const request = await currentRequest();
  // Error pages must work without the database.
  const someone = await request.person().catch(() => null);
  const user = someone === null ? null : await profile().catch(() => null);
  return user?.locale ?? negotiateLocale(request.header("accept-language"));
}
