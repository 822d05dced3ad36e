import { getTranslations } from "next-intl/server";
import type { ReactNode } from "react";
import type { z } from "zod";
import type { ApiKeyView } from "../../../operations/api-keys/api-key-view.ts";
import { Field } from "../../../ui/field.tsx";
import { InlineFact, InlineFacts } from "../../../ui/inline-facts.tsx";
import { RevokeForm } from "../../../ui/revoke-forms.tsx";
import { Status } from "../../../ui/status.tsx";
import { SubmitButton } from "../../../ui/submit-button.tsx";
import { Time } from "../../../ui/time.tsx";

type Key = z.output<typeof ApiKeyView>;

type Props = {
  apiKey: Key;
  /** What the key may do. */
  scope?: ReactNode;
  moreTimes?: ReactNode;
  /** Forms above the one that revokes the key. */
  children?: ReactNode;
};

/** An API key, or a service key, with the form that revokes it. */
export async function KeyRow({ apiKey, scope, moreTimes, children }: Props) {
  const t = await getTranslations("apiKeys");
  const { id, name, prefix, createdAt, lastUsedAt, expiresAt } = apiKey;
  return (
    <li className="flex flex-col gap-2 border-line border-b py-4 last:border-b-0">
      <div className="flex flex-wrap items-baseline gap-x-3">
        <h3 className="min-w-0 break-words font-medium">{name}</h3>
        <code className="text-muted text-sm">{prefix}…</code>
        {isExpired(apiKey) && (
          <span className="text-sm">
            <Status tone="bad">{t("expired")}</Status>
          </span>
        )}
      </div>
      {scope}
      <InlineFacts>
        <InlineFact label={t("created")}>
          <Time at={createdAt} />
        </InlineFact>
        <InlineFact label={t("lastUsed")}>{lastUsedAt ? <Time at={lastUsedAt} /> : t("never")}</InlineFact>
        <InlineFact label={t("expires")}>{expiresAt ? <Time at={expiresAt} /> : t("never")}</InlineFact>
        {moreTimes}
      </InlineFacts>
      {children}
      <RevokeForm id={id} summary={t("revoke.open")}>
        <input type="hidden" name="id" value={id} />
        <input type="hidden" name="name" value={name} />
        <p className="text-sm">{t("revoke.about")}</p>
        <Field
          label={t("revoke.confirm", { name })}
          name="confirmation"
          required
          autoComplete="off"
          spellCheck={false}
          className="w-full"
        />
        <SubmitButton variant="danger">{t("revoke.button")}</SubmitButton>
      </RevokeForm>
    </li>
  );
}

export function isExpired({ expiresAt }: Pick<Key, "expiresAt">): boolean {
  return expiresAt !== null && expiresAt <= new Date();
}
