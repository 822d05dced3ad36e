import type { Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { ActionForm } from "../../../ui/action-form.tsx";
import { MessagePage } from "../../../ui/message-page.tsx";
import { NarrowPage } from "../../../ui/narrow-page.tsx";
import { SubmitButton } from "../../../ui/submit-button.tsx";
import { TextLink } from "../../../ui/text-link.tsx";
import { formAction } from "../../gate/form-action.ts";
import { confirmEmailChange } from "./actions.ts";

type Query = { token?: string | string[]; done?: string | string[] };
type SearchParams = Promise<Query>;

export async function generateMetadata({ searchParams }: { searchParams: SearchParams }): Promise<Metadata> {
  const [t, query] = await Promise.all([getTranslations("auth.emailChange"), searchParams]);
  return { title: t(typeof query.token === "string" ? "title" : `${outcomeOf(query)}.title`) };
}

/** Where the links of both mails lead. A button, as mail scanners open links. */
export default async function ConfirmEmailChangePage({ searchParams }: { searchParams: SearchParams }) {
  const [t, query] = await Promise.all([getTranslations("auth.emailChange"), searchParams]);
  if (typeof query.token !== "string") {
    const outcome = outcomeOf(query);
    return (
      <MessagePage
        title={t(`${outcome}.title`)}
        description={t(`${outcome}.about`)}
        action={{ label: t("way"), href: "/settings" }}
      />
    );
  }
  return (
    <NarrowPage
      title={t("title")}
      description={t("about")}
      after={<TextLink href="/settings">{t("way")}</TextLink>}
    >
      <ActionForm action={formAction(confirmEmailChange)} className="flex flex-col gap-3">
        <input type="hidden" name="token" value={query.token} />
        <SubmitButton>{t("submit")}</SubmitButton>
      </ActionForm>
    </NarrowPage>
  );
}

function outcomeOf({ done }: Query): "changed" | "pending" | "invalid" {
  return done === "changed" || done === "pending" ? done : "invalid";
}
