import type { Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { ActionForm } from "../../../ui/action-form.tsx";
import { MessagePage } from "../../../ui/message-page.tsx";
import { NarrowPage } from "../../../ui/narrow-page.tsx";
import { NewPasswordField } from "../../../ui/new-password-field.tsx";
import { SubmitButton } from "../../../ui/submit-button.tsx";
import { TextLink } from "../../../ui/text-link.tsx";
import { formAction } from "../../gate/form-action.ts";
import { resetPassword } from "./actions.ts";

export async function generateMetadata(): Promise<Metadata> {
  const t = await getTranslations("auth.reset");
  return { title: t("title") };
}

type SearchParams = Promise<{ token?: string | string[]; error?: string | string[] }>;

/** Where the link of a mail leads: with a token, or with an error if the link is no longer valid. */
export default async function ResetPasswordPage({ searchParams }: { searchParams: SearchParams }) {
  const [t, { token, error }] = await Promise.all([getTranslations("auth"), searchParams]);
  if (typeof token !== "string" || error !== undefined) {
    return (
      <MessagePage
        title={t("reset.badLinkTitle")}
        description={t("reset.badLink")}
        action={{ label: t("reset.askAgain"), href: "/forgotten-password" }}
      />
    );
  }
  return (
    <NarrowPage
      title={t("reset.title")}
      description={t("reset.about")}
      after={<TextLink href="/forgotten-password">{t("reset.askAgain")}</TextLink>}
    >
      <ActionForm action={formAction(resetPassword)} className="flex flex-col gap-3">
        <input type="hidden" name="token" value={token} />
        <NewPasswordField
          label={t("fields.newPassword")}
          help={t("fields.passwordHelp")}
          name="newPassword"
        />
        <SubmitButton>{t("reset.submit")}</SubmitButton>
      </ActionForm>
    </NarrowPage>
  );
}
