import { getTranslations } from "next-intl/server";

/** The texts of `NewServiceKey`. */
export async function keyLabels() {
  const [t, keys] = await Promise.all([
    getTranslations("adminServiceKeys.create"),
    getTranslations("apiKeys.create"),
  ]);
  return {
    shownOnce: keys("shownOnce"),
    shownOnceAbout: t("shownOnceAbout"),
    key: keys("key"),
    copy: keys("copy"),
    copied: keys("copied"),
    copyFailed: keys("copyFailed"),
  };
}
