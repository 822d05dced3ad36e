import { getTranslations } from "next-intl/server";
import type { ReactNode } from "react";
import type { z } from "zod";
import type { ApiKeyView } from "../../../operations/api-keys/api-key-view.ts";
import { Field } from "../../../ui/field.tsx";
import { Status } from "../../../ui/status.tsx";
import { SubmitButton } from "../../../ui/submit-button.tsx";
import { Time } from "../../../ui/time.tsx";
import { RevokeForm } from "./revoke-forms.tsx";

type ApiKey = z.output<typeof ApiKeyView>;

export async function KeyRow({ apiKey }: { apiKey: ApiKey }) {
  const t = await getTranslations("apiKeys");
  const { id, name, prefix, createdAt, lastUsedAt, expiresAt } = apiKey;
  const isExpired = expiresAt !== null && expiresAt <= new Date();
  return (
    <li className="flex flex-col gap-2 border-line border-b py-4 last:border-b-0">
      <div className="flex flex-wrap items-baseline gap-x-3">
        <h3 className="min-w-0 break-words font-medium">{name}</h3>
        <code className="text-muted text-sm">{prefix}…</code>
        {isExpired && (
          <span className="text-sm">
            <Status tone="bad">{t("expired")}</Status>
          </span>
        )}
      </div>
      <dl className="grid grid-cols-[max-content_1fr] gap-x-3 gap-y-1 text-sm sm:flex sm:flex-wrap sm:gap-x-6">
        <Fact label={t("created")}>
          <Time at={createdAt} />
        </Fact>
        <Fact label={t("lastUsed")}>{lastUsedAt ? <Time at={lastUsedAt} /> : t("never")}</Fact>
        <Fact label={t("expires")}>{expiresAt ? <Time at={expiresAt} /> : t("never")}</Fact>
      </dl>
      <RevokeForm id={id} summary={t("revoke.open")}>
        <input type="hidden" name="id" value={id} />
        <input type="hidden" name="name" value={name} />
        <p className="text-sm">{t("revoke.about")}</p>
        <Field
          label={t("revoke.confirm", { name })}
          name="confirmation"
          required
          autoComplete="off"
          className="w-full"
        />
        <SubmitButton variant="danger">{t("revoke.button")}</SubmitButton>
      </RevokeForm>
    </li>
  );
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="contents sm:flex sm:gap-1.5">
      <dt className="text-muted">{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}
