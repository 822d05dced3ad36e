import type { Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { ActionForm } from "../../../ui/action-form.tsx";
import { MessagePage } from "../../../ui/message-page.tsx";
import { NarrowPage } from "../../../ui/narrow-page.tsx";
import { SubmitButton } from "../../../ui/submit-button.tsx";
import { TextLink } from "../../../ui/text-link.tsx";
import { formAction } from "../../gate/form-action.ts";
import { signInPath } from "../../gate/same-site-path.ts";
import { confirmEmail } from "./actions.ts";

type Query = Partial<Record<"token" | "callbackURL" | "done" | "error" | "next", string | string[]>>;
type SearchParams = Promise<Query>;

export async function generateMetadata({ searchParams }: { searchParams: SearchParams }): Promise<Metadata> {
  const [t, query] = await Promise.all([getTranslations("auth"), searchParams]);
  if (typeof query.token === "string") return { title: t("verify.confirm.title") };
  return { title: t(isConfirmed(query) ? "verify.title" : "reset.badLinkTitle") };
}

/** Where the mailed link leads: to a button, as mail scanners open links. */
export default async function VerifyEmailPage({ searchParams }: { searchParams: SearchParams }) {
  const [t, query] = await Promise.all([getTranslations("auth"), searchParams]);
  const { token, callbackURL } = query;
  if (typeof token === "string") {
    return (
      <NarrowPage
        title={t("verify.confirm.title")}
        description={t("verify.confirm.about")}
        after={<TextLink href="/sign-in">{t("signIn.submit")}</TextLink>}
      >
        <ActionForm action={formAction(confirmEmail)} className="flex flex-col gap-3">
          <input type="hidden" name="token" value={token} />
          <input type="hidden" name="callbackURL" value={[callbackURL].flat()[0] ?? ""} />
          <SubmitButton>{t("verify.confirm.submit")}</SubmitButton>
        </ActionForm>
      </NarrowPage>
    );
  }
  return (
    <MessagePage
      title={isConfirmed(query) ? t("verify.title") : t("reset.badLinkTitle")}
      description={isConfirmed(query) ? t("verify.about") : t("verify.badLink")}
      action={{ label: t("signIn.submit"), href: signInPath([query.next].flat()[0] ?? null) }}
    />
  );
}

/** A link of the API that isn't valid adds `error`. */
function isConfirmed({ done, error }: Query): boolean {
  return done !== undefined && error === undefined;
}
