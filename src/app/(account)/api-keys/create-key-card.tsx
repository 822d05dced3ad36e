import { getTranslations } from "next-intl/server";
import type { ComponentProps, ReactNode } from "react";
import { MAX_NAME_UNITS } from "../../../domain/users/person-name.ts";
import { ActionForm } from "../../../ui/action-form.tsx";
import { Card } from "../../../ui/card.tsx";
import { Field } from "../../../ui/field.tsx";
import { SubmitButton } from "../../../ui/submit-button.tsx";

type Props = {
  action: ComponentProps<typeof ActionForm>["action"];
  nameHelp: string;
  /** Between the name and the expiry date. */
  moreFields?: ReactNode;
  /** Above the button. */
  scope?: ReactNode;
  /** Shows the key once it is created. */
  children: ReactNode;
};

/** The form that creates an API key or a service key. */
export async function CreateKeyCard({ action, nameHelp, moreFields, scope, children }: Props) {
  const t = await getTranslations("apiKeys.create");
  const today = new Date().toISOString().slice(0, 10);
  return (
    <Card title={t("title")} description={t("about")}>
      <ActionForm action={action} className="flex flex-col gap-4">
        <div className={`grid gap-4 sm:grid-cols-2 ${moreFields ? "lg:grid-cols-3" : ""}`}>
          <Field
            label={t("name")}
            help={nameHelp}
            name="name"
            required
            maxLength={MAX_NAME_UNITS}
            autoComplete="off"
          />
          {moreFields}
          <Field label={t("expires")} help={t("expiresHelp")} name="expiresAt" type="date" min={today} />
        </div>
        {scope}
        <div>
          <SubmitButton>{t("button")}</SubmitButton>
        </div>
        {children}
      </ActionForm>
    </Card>
  );
}
