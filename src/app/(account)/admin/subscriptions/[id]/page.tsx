import type { Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { cache } from "react";
import { showLastChange } from "../../../../../operations/subscriptions/show-last-change.ts";
import { ActionForm } from "../../../../../ui/action-form.tsx";
import { Card } from "../../../../../ui/card.tsx";
import { Field } from "../../../../../ui/field.tsx";
import { PageHeader } from "../../../../../ui/page-header.tsx";
import { SubmitButton } from "../../../../../ui/submit-button.tsx";
import { formAction } from "../../../../gate/form-action.ts";
import { read, requireAdmin } from "../../../../gate/read.ts";
import { pageTitle, withRefusalPage } from "../../../../gate/with-refusal-page.tsx";
import { dismissSubscription } from "../actions.ts";

type Props = { params: Promise<{ id: string }> };

const requireSubscription = cache(async (id: string) => {
  await requireAdmin();
  await read(showLastChange, { id });
});

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const t = await getTranslations("adminSubscriptions.dismiss");
  return pageTitle(requireSubscription((await params).id), t("title"));
}

/** For a subscription that no comparison can settle: removes it from the review list unchanged. */
export default withRefusalPage(async function DismissPage({ params }: Props) {
  const [list, t, { id }] = await Promise.all([
    getTranslations("adminSubscriptions"),
    getTranslations("adminSubscriptions.dismiss"),
    params,
  ]);
  await requireSubscription(id);
  return (
    <>
      <PageHeader
        back={{ href: "/admin/subscriptions", label: list("title") }}
        title={t("title")}
        description={t("about")}
      />
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
        </ActionForm>
      </Card>
    </>
  );
});
