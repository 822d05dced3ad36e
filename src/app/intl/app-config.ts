import type {} from "next-intl";
import type { Locale } from "../../domain/locale.ts";
import type { Messages } from "../../messages/messages.ts";

declare module "next-intl" {
  interface AppConfig {
    Messages: Messages;
    Locale: Locale;
  }
}
