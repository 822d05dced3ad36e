import { getTranslations } from "next-intl/server";
import type { Locale } from "../../../domain/locale.ts";
import type { Preferences } from "../../../domain/users/preferences.ts";
import { Checkbox, Select } from "../../../ui/field.tsx";
import { currentRequest } from "../../gate/request.ts";

export type PreferenceOwner = { locale: Locale; preferences: Preferences };

const THEMES = ["system", "light", "dark"] as const;

export async function PreferenceFields({ user }: { user: PreferenceOwner }) {
  const t = await getTranslations("settings.preferences");
  const { theme, emailNotifications } = user.preferences;
  const { mails } = await currentRequest();
  return (
    <>
      <Select
        label={t("theme")}
        name="theme"
        defaultValue={theme}
        options={THEMES.map((value) => ({ value, label: t(value) }))}
      />
      <Checkbox
        label={t("emailNotifications")}
        help={t(mails ? "emailNotificationsHelp" : "withoutMail")}
        name="emailNotifications"
        defaultChecked={emailNotifications}
      />
    </>
  );
}
