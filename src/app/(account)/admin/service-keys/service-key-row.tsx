import { getTranslations } from "next-intl/server";
import type { z } from "zod";
import type { ServiceKeyView } from "../../../../operations/service-keys/service-key-view.ts";
import { ActionForm } from "../../../../ui/action-form.tsx";
import { Field } from "../../../../ui/field.tsx";
import { InlineFact, InlineFacts } from "../../../../ui/inline-facts.tsx";
import { RevokeForm } from "../../../../ui/revoke-forms.tsx";
import { RowSubmitButton } from "../../../../ui/row-submit-button.tsx";
import { Status } from "../../../../ui/status.tsx";
import { SubmitButton } from "../../../../ui/submit-button.tsx";
import { Time } from "../../../../ui/time.tsx";
import { formAction } from "../../../gate/form-action.ts";
import { rotateServiceKey } from "./actions.ts";
import { keyLabels } from "./key-labels.ts";
import { NewServiceKey } from "./new-service-key.tsx";

type ServiceKey = z.output<typeof ServiceKeyView>;

export async function ServiceKeyRow({ serviceKey }: { serviceKey: ServiceKey }) {
  const [t, keys] = await Promise.all([getTranslations("adminServiceKeys"), getTranslations("apiKeys")]);
  const { id, name, prefix, permissions, limit, expiresAt, lastUsedAt, previousValidUntil } = serviceKey;
  const isExpired = expiresAt !== null && expiresAt <= new Date();
  return (
    <li className="flex flex-col gap-2 border-line border-b py-4 last:border-b-0">
      <div className="flex flex-wrap items-baseline gap-x-3">
        <h3 className="min-w-0 break-words font-medium">{name}</h3>
        <code className="text-muted text-sm">{prefix}…</code>
        {isExpired && (
          <span className="text-sm">
            <Status tone="bad">{keys("expired")}</Status>
          </span>
        )}
      </div>
      <InlineFacts>
        <InlineFact label={t("permissions.title")}>{permissions.join(", ")}</InlineFact>
        <InlineFact label={t("limit")}>{limit}</InlineFact>
      </InlineFacts>
      <InlineFacts>
        <InlineFact label={keys("created")}>
          <Time at={serviceKey.createdAt} />
        </InlineFact>
        <InlineFact label={keys("lastUsed")}>
          {lastUsedAt ? <Time at={lastUsedAt} /> : keys("never")}
        </InlineFact>
        <InlineFact label={keys("expires")}>{expiresAt ? <Time at={expiresAt} /> : keys("never")}</InlineFact>
        {previousValidUntil && (
          <InlineFact label={t("previousValidUntil")}>
            <Time at={previousValidUntil} />
          </InlineFact>
        )}
      </InlineFacts>
      {!isExpired && <RotateForm id={id} name={name} />}
      <RevokeForm id={id} summary={keys("revoke.open")}>
        <input type="hidden" name="id" value={id} />
        <input type="hidden" name="name" value={name} />
        <p className="text-sm">{keys("revoke.about")}</p>
        <Field
          label={keys("revoke.confirm", { name })}
          name="confirmation"
          required
          autoComplete="off"
          className="w-full"
        />
        <SubmitButton variant="danger">{keys("revoke.button")}</SubmitButton>
      </RevokeForm>
    </li>
  );
}

async function RotateForm({ id, name }: { id: string; name: string }) {
  const [t, labels] = await Promise.all([getTranslations("adminServiceKeys.rotate"), keyLabels()]);
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
      <NewServiceKey labels={labels} />
    </ActionForm>
  );
}
