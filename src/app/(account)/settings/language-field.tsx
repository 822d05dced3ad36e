import { getTranslations } from "next-intl/server";
import { LOCALES } from "../../../domain/locale.ts";
import { Choice } from "../../../ui/field.tsx";
import { LANGUAGE_NAMES } from "../../intl/language-names.ts";
import type { Reader } from "./preference-fields.tsx";

export async function LanguageField({ user }: { user: Reader }) {
  const words = await getTranslations("settings.language");
  return (
    <Choice
      label={words("label")}
      help={words("help")}
      name="locale"
      defaultValue={user.locale}
      options={LOCALES.map((value) => ({ value, label: LANGUAGE_NAMES[value] }))}
    />
  );
}
