import { getTranslations } from "next-intl/server";

/** What `NewSecret` says, in the reader's language. */
export async function secretLabels() {
  const [t, keys] = await Promise.all([
    getTranslations("adminEventEndpoints.secret"),
    getTranslations("apiKeys.create"),
  ]);
  return {
    shownOnce: t("shownOnce"),
    shownOnceAbout: t("shownOnceAbout"),
    secret: t("label"),
    copy: keys("copy"),
    copied: keys("copied"),
    copyFailed: keys("copyFailed"),
  };
}
