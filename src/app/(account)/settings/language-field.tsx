import { getTranslations } from "next-intl/server";
import { LOCALES } from "../../../domain/locale.ts";
import { Select } from "../../../ui/field.tsx";
import { LANGUAGE_NAMES } from "../../intl/language-names.ts";
import type { PreferenceOwner } from "./preference-fields.tsx";

export async function LanguageField({ user }: { user: PreferenceOwner }) {
  const t = await getTranslations("settings.language");
  return (
    <Select
      label={t("label")}
      help={t("help")}
      name="locale"
      defaultValue={user.locale}
      options={LOCALES.map((value) => ({ value, label: LANGUAGE_NAMES[value] }))}
    />
  );
}
