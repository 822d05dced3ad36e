import { getTranslations } from "next-intl/server";
import type { z } from "zod";
import type { ServiceKeyView } from "../../../../operations/service-keys/service-key-view.ts";
import { ActionForm } from "../../../../ui/action-form.tsx";
import { InlineFact, InlineFacts } from "../../../../ui/inline-facts.tsx";
import { RowSubmitButton } from "../../../../ui/row-submit-button.tsx";
import { Time } from "../../../../ui/time.tsx";
import { formAction } from "../../../gate/form-action.ts";
import { isExpired, KeyRow } from "../../api-keys/key-row.tsx";
import { rotateServiceKey } from "./actions.ts";
import { NewServiceKey } from "./new-service-key.tsx";

type ServiceKey = z.output<typeof ServiceKeyView>;

export async function ServiceKeyRow({ serviceKey }: { serviceKey: ServiceKey }) {
  const t = await getTranslations("adminServiceKeys");
  const { id, name, permissions, limit, previousValidUntil } = serviceKey;
  const scope = (
    <InlineFacts>
      <InlineFact label={t("permissions.title")}>{permissions.join(", ")}</InlineFact>
      <InlineFact label={t("limit")}>{limit}</InlineFact>
    </InlineFacts>
  );
  const previous = previousValidUntil && (
    <InlineFact label={t("previousValidUntil")}>
      <Time at={previousValidUntil} />
    </InlineFact>
  );
  return (
    <KeyRow apiKey={serviceKey} scope={scope} moreTimes={previous}>
      {!isExpired(serviceKey) && <RotateForm id={id} name={name} />}
    </KeyRow>
  );
}

async function RotateForm({ id, name }: { id: string; name: string }) {
  const t = await getTranslations("adminServiceKeys.rotate");
  return (
    <ActionForm action={formAction(rotateServiceKey)} className="flex flex-col gap-3">
      <details>
        <summary className="inline-flex min-h-6 w-fit items-center rounded-box text-sm hover:underline">
          {t("open")}
        </summary>
        <div className="mt-3 flex max-w-md flex-col items-start gap-3">
          <p className="text-sm">{t("about")}</p>
          <RowSubmitButton id={id} label={t("which", { name })}>
            {t("button")}
          </RowSubmitButton>
        </div>
      </details>
      <NewServiceKey />
    </ActionForm>
  );
}
