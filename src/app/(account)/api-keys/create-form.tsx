import { getTranslations } from "next-intl/server";
import { formAction } from "../../gate/form-action.ts";
import { currentRequest } from "../../gate/request.ts";
import { CreatedSecret } from "../created-secret.tsx";
import { createApiKeyAction } from "./actions.ts";
import { CreateKeyCard } from "./create-key-card.tsx";

export async function CreateForm() {
  const t = await getTranslations("apiKeys.create");
  const { appUrl } = await currentRequest();
  const command = `curl -H 'Authorization: Bearer {key}' ${appUrl}/api/users/me`;
  return (
    <CreateKeyCard action={formAction(createApiKeyAction)} nameHelp={t("nameHelp")}>
      <CreatedSecret
        title={t("shownOnce")}
        about={t("shownOnceAbout")}
        texts={[
          { label: t("key"), template: "{key}" },
          { label: t("tryIt"), template: command },
        ]}
      />
    </CreateKeyCard>
  );
}
