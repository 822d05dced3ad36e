import type { Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { ActionForm } from "../../../../../ui/action-form.tsx";
import { Card } from "../../../../../ui/card.tsx";
import { Field } from "../../../../../ui/field.tsx";
import { PageHeader } from "../../../../../ui/page-header.tsx";
import { StatusMessage } from "../../../../../ui/status-message.tsx";
import { SubmitButton } from "../../../../../ui/submit-button.tsx";
import { TextLink } from "../../../../../ui/text-link.tsx";
import { formAction } from "../../../../gate/form-action.ts";
import { requireAdmin } from "../../../../gate/read.ts";
import { dismissSubscription } from "../actions.ts";

export async function generateMetadata(): Promise<Metadata> {
  const t = await getTranslations("adminSubscriptions.dismiss");
  return { title: t("title") };
}

/** For a subscription that no comparison can settle: removes it from the review list unchanged. */
export default async function DismissPage({ params }: { params: Promise<{ id: string }> }) {
  await requireAdmin();
  const [t, { id }] = await Promise.all([getTranslations("adminSubscriptions.dismiss"), params]);
  return (
    <>
      <PageHeader title={t("title")} description={t("about")} />
      <Card title={t("card")} description={id}>
        <ActionForm action={formAction(dismissSubscription)} className="flex max-w-xl flex-col gap-4">
          <input type="hidden" name="id" value={id} />
          <Field
            label={t("reason")}
            help={t("reasonHelp")}
            name="reason"
            required
            maxLength={500}
            autoComplete="off"
          />
          <div>
            <SubmitButton>{t("button")}</SubmitButton>
          </div>
          <StatusMessage />
        </ActionForm>
      </Card>
      <p className="mt-6">
        <TextLink href="/admin/subscriptions">{t("back")}</TextLink>
      </p>
    </>
  );
}
