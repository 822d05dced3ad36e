import { getTranslations } from "next-intl/server";
import { ActionForm } from "../../../ui/action-form.tsx";
import { CookiesBlocked } from "../../../ui/cookies-blocked.tsx";
import { Checkbox, Field } from "../../../ui/field.tsx";
import { NarrowPage } from "../../../ui/narrow-page.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { SubmitButton } from "../../../ui/submit-button.tsx";
import { TextLink } from "../../../ui/text-link.tsx";
import { formAction } from "../../gate/form-action.ts";
import { redirectIfSignedIn } from "../../gate/optional-user.ts";
import { sameSitePath, signUpPath } from "../../gate/same-site-path.ts";
import { titled } from "../../titled.ts";
import { signIn } from "./actions.ts";

export const generateMetadata = titled("auth.signIn.title");

type Query = Promise<{ next?: string | string[]; after?: string | string[] }>;

/** What the user has just done, from `?after=`. */
const AFTER = { "signing-out": "signedOut", "new-password": "passwordSet" } as const;

export default async function SignInPage({ searchParams }: { searchParams: Query }) {
  const { next: requestedNext, after } = await searchParams;
  const next = sameSitePath([requestedNext].flat()[0], "");
  const notice = Object.entries(AFTER).find(([name]) => name === after)?.[1];
  // A mail's link may have been opened where somebody else is signed in.
  if (notice !== "passwordSet") await redirectIfSignedIn(next || undefined);
  const t = await getTranslations("auth");
  return (
    <NarrowPage
      title={t("signIn.title")}
      description={after === "session-end" ? t("signIn.sessionEnded") : !notice && next && t("signIn.first")}
      after={
        <>
          {t("signIn.noAccount")} <TextLink href={signUpPath(next || null)}>{t("signIn.signUp")}</TextLink>
        </>
      }
    >
      {notice && <Notice>{t(`signIn.${notice}`)}</Notice>}
      <ActionForm action={formAction(signIn)} className="flex flex-col gap-3">
        {next && <input type="hidden" name="next" value={next} />}
        <CookiesBlocked text={t("fields.cookiesBlocked")} />
        <Field
          label={t("fields.email")}
          name="email"
          type="email"
          required
          maxLength={254}
          autoComplete="username"
        />
        <Field
          label={t("fields.password")}
          name="password"
          type="password"
          required
          autoComplete="current-password"
        />
        <Checkbox
          label={t("fields.rememberMe")}
          help={t("fields.rememberMeHelp")}
          name="rememberMe"
          defaultChecked
        />
        <SubmitButton className="mt-2">{t("signIn.submit")}</SubmitButton>
        <p className="text-center">
          <TextLink href="/forgotten-password">{t("signIn.forgotten")}</TextLink>
        </p>
      </ActionForm>
    </NarrowPage>
  );
}
