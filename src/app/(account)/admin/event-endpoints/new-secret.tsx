import { getTranslations } from "next-intl/server";
import { CreatedSecret } from "../../created-secret.tsx";

/** The signing secret just created by the enclosing form. */
export async function NewSecret() {
  const t = await getTranslations("adminEventEndpoints.secret");
  return (
    <CreatedSecret
      title={t("shownOnce")}
      about={t("shownOnceAbout")}
      texts={[{ label: t("label"), template: "{secret}" }]}
    />
  );
}
