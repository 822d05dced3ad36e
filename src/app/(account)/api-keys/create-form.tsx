import { getTranslations } from "next-intl/server";
import { formAction } from "../../gate/form-action.ts";
import { currentRequest } from "../../gate/request.ts";
import { createApiKeyAction } from "./actions.ts";
import { CreateKeyCard } from "./create-key-card.tsx";
import { NewKey } from "./new-key.tsx";

export async function CreateForm() {
  const t = await getTranslations("apiKeys.create");
  const { appUrl } = await currentRequest();
  return (
    <CreateKeyCard action={formAction(createApiKeyAction)} nameHelp={t("nameHelp")}>
      <NewKey
        appUrl={appUrl}
        labels={{
          shownOnce: t("shownOnce"),
          shownOnceAbout: t("shownOnceAbout"),
          key: t("key"),
          tryIt: t("tryIt"),
          copy: t("copy"),
          copied: t("copied"),
          copyFailed: t("copyFailed"),
        }}
      />
    </CreateKeyCard>
  );
}
