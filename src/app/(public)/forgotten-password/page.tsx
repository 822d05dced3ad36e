import type { Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { ActionForm } from "../../../ui/action-form.tsx";
import { Field } from "../../../ui/field.tsx";
import { MessagePage } from "../../../ui/message-page.tsx";
import { NarrowPage } from "../../../ui/narrow-page.tsx";
import { SubmitButton } from "../../../ui/submit-button.tsx";
import { TextLink } from "../../../ui/text-link.tsx";
import { formAction } from "../../gate/form-action.ts";
import { requestPasswordReset } from "./actions.ts";

type Query = Promise<{ sent?: string | string[] }>;

export async function generateMetadata({ searchParams }: { searchParams: Query }): Promise<Metadata> {
  const [t, { sent }] = await Promise.all([getTranslations("auth.forgotten"), searchParams]);
  return { title: t(sent === undefined ? "title" : "sentTitle") };
}

export default async function ForgottenPasswordPage({ searchParams }: { searchParams: Query }) {
  const [t, { sent }] = await Promise.all([getTranslations("auth"), searchParams]);
  if (sent !== undefined) {
    return (
      <MessagePage
        title={t("forgotten.sentTitle")}
        description={t("forgotten.sent")}
        action={{ label: t("forgotten.back"), href: "/sign-in" }}
      />
    );
  }
  return (
    <NarrowPage
      title={t("forgotten.title")}
      description={t("forgotten.about")}
      after={<TextLink href="/sign-in">{t("forgotten.back")}</TextLink>}
    >
      <ActionForm action={formAction(requestPasswordReset)} className="flex flex-col gap-3">
        <Field
          label={t("fields.email")}
          name="email"
          type="email"
          required
          maxLength={254}
          autoComplete="username"
        />
        <SubmitButton>{t("forgotten.submit")}</SubmitButton>
      </ActionForm>
    </NarrowPage>
  );
}
