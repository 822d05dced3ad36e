import { getTranslations } from "next-intl/server";
import type { ComponentProps } from "react";
import { ShownOnce } from "../../ui/shown-once.tsx";

/** The key, secret or secret address that the enclosing form has just created. */
export async function CreatedSecret(props: Omit<ComponentProps<typeof ShownOnce>, "copyLabels">) {
  const t = await getTranslations("apiKeys.create");
  const copyLabels = { copy: t("copy"), copied: t("copied"), failed: t("copyFailed") };
  return <ShownOnce copyLabels={copyLabels} {...props} />;
}
