import type { Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { ActionForm } from "../../../ui/action-form.tsx";
import { MessagePage } from "../../../ui/message-page.tsx";
import { NarrowPage } from "../../../ui/narrow-page.tsx";
import { SubmitButton } from "../../../ui/submit-button.tsx";
import { formAction } from "../../gate/form-action.ts";
import { confirmEmailChange } from "./actions.ts";

export async function generateMetadata(): Promise<Metadata> {
  const t = await getTranslations("auth.emailChange");
  return { title: t("title") };
}

type Query = Promise<{ token?: string | string[]; done?: string | string[] }>;

/** Where the links of both mails lead. A button, as mail scanners open links. */
export default async function ConfirmEmailChangePage({ searchParams }: { searchParams: Query }) {
  const [t, { token, done }] = await Promise.all([getTranslations("auth.emailChange"), searchParams]);
  if (typeof token !== "string") {
    const outcome = done === "changed" ? "changed" : done === "pending" ? "pending" : "invalid";
    return (
      <MessagePage
        title={t(`${outcome}.title`)}
        description={t(`${outcome}.about`)}
        action={{ label: t("way"), href: "/settings" }}
      />
    );
  }
  return (
    <NarrowPage title={t("title")} description={t("about")}>
      <ActionForm action={formAction(confirmEmailChange)} className="flex flex-col gap-3">
        <input type="hidden" name="token" value={token} />
        <SubmitButton>{t("submit")}</SubmitButton>
      </ActionForm>
    </NarrowPage>
  );
}
