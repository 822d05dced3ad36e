import { getTranslations } from "next-intl/server";
import type { Locale } from "../../../domain/locale.ts";
import type { Preferences } from "../../../domain/preferences.ts";
import { Choice, Toggle } from "../../../ui/field.tsx";
import { currentRequest } from "../../gate/request.ts";

export type Reader = { locale: Locale; preferences: Preferences };

const THEMES = ["system", "light", "dark"] as const;

export async function PreferenceFields({ user }: { user: Reader }) {
  const words = await getTranslations("settings.preferences");
  const { theme, emailNotifications } = user.preferences;
  return (
    <>
      <Choice
        label={words("theme")}
        name="theme"
        defaultValue={theme}
        options={THEMES.map((value) => ({ value, label: words(value) }))}
      />
      <Toggle
        label={words("emailNotifications")}
        help={words(currentRequest().mails ? "emailNotificationsHelp" : "withoutMail")}
        name="emailNotifications"
        defaultChecked={emailNotifications}
      />
    </>
  );
}
