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

type Query = { token?: string | string[]; error?: string | string[] };
type SearchParams = Promise<Query>;

export async function generateMetadata({ searchParams }: { searchParams: SearchParams }): Promise<Metadata> {
  const [t, query] = await Promise.all([getTranslations("auth.reset"), searchParams]);
  return { title: t(tokenOf(query) === null ? "badLinkTitle" : "title") };
}

/** Where the link of a mail leads: with a token, or with an error if the link is no longer valid. */
export default async function ResetPasswordPage({ searchParams }: { searchParams: SearchParams }) {
  const [t, query] = await Promise.all([getTranslations("auth"), searchParams]);
  const token = tokenOf(query);
  if (token === null) {
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

function tokenOf({ token, error }: Query): string | null {
  return typeof token === "string" && error === undefined ? token : null;
}
