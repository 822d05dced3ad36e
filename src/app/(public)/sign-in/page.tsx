import type { Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { ActionForm } from "../../../ui/action-form.tsx";
import { Checkbox, Field } from "../../../ui/field.tsx";
import { NarrowPage } from "../../../ui/narrow-page.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { SubmitButton } from "../../../ui/submit-button.tsx";
import { TextLink } from "../../../ui/text-link.tsx";
import { formAction } from "../../gate/form-action.ts";
import { redirectIfSignedIn } from "../../gate/optional-user.ts";
import { sameSitePath } from "../../gate/same-site-path.ts";
import { signIn } from "./actions.ts";

export async function generateMetadata(): Promise<Metadata> {
  const t = await getTranslations("auth.signIn");
  return { title: t("title") };
}

type Query = Promise<{ next?: string | string[]; after?: string | string[] }>;

/** How one may have come here, as `?after=` says. */
const AFTER = { "signing-out": "signedOut", "new-password": "passwordSet" } as const;

export default async function SignInPage({ searchParams }: { searchParams: Query }) {
  const { next, after } = await searchParams;
  const onTo = sameSitePath([next].flat()[0], "");
  await redirectIfSignedIn(onTo || undefined);
  const t = await getTranslations("auth");
  const cameFrom = Object.entries(AFTER).find(([name]) => name === after)?.[1];
  return (
    <NarrowPage
      title={t("signIn.title")}
      description={!cameFrom && onTo && t("signIn.first")}
      after={
        <>
          {t("signIn.noAccount")} <TextLink href="/sign-up">{t("signIn.signUp")}</TextLink>
        </>
      }
    >
      {cameFrom && <Notice>{t(`signIn.${cameFrom}`)}</Notice>}
      <ActionForm action={formAction(signIn)} className="flex flex-col gap-3">
        {onTo && <input type="hidden" name="next" value={onTo} />}
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
