import { getTranslations } from "next-intl/server";
import { CreatedSecret } from "../../created-secret.tsx";

/** The key just created or rotated by the enclosing form. */
export async function NewServiceKey() {
  const [t, keys] = await Promise.all([
    getTranslations("adminServiceKeys.create"),
    getTranslations("apiKeys.create"),
  ]);
  return (
    <CreatedSecret
      title={keys("shownOnce")}
      about={t("shownOnceAbout")}
      texts={[{ label: keys("key"), template: "{key}" }]}
    />
  );
}
