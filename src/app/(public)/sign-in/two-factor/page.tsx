import { getTranslations } from "next-intl/server";
import { ActionForm } from "../../../../ui/action-form.tsx";
import { Checkbox, Field } from "../../../../ui/field.tsx";
import { NarrowPage } from "../../../../ui/narrow-page.tsx";
import { SubmitButton } from "../../../../ui/submit-button.tsx";
import { TextLink } from "../../../../ui/text-link.tsx";
import { TotpField } from "../../../../ui/totp-field.tsx";
import { formAction } from "../../../gate/form-action.ts";
import { redirectIfSignedIn } from "../../../gate/optional-user.ts";
import { sameSitePath, signInPath } from "../../../gate/same-site-path.ts";
import { titled } from "../../../titled.ts";
import { signInWithBackupCode, signInWithCode } from "../actions.ts";

export const generateMetadata = titled("auth.twoFactor.title");

type Query = Promise<{ next?: string | string[]; backup?: string | string[] }>;

/** The second step of signing in: a code of the authenticator app, or a backup code. */
export default async function TwoFactorPage({ searchParams }: { searchParams: Query }) {
  const [auth, t, setup, query] = await Promise.all([
    getTranslations("auth"),
    getTranslations("auth.twoFactor"),
    getTranslations("security.twoFactor"),
    searchParams,
  ]);
  const next = sameSitePath([query.next].flat()[0], "");
  await redirectIfSignedIn(next || undefined);
  const isBackup = query.backup !== undefined;
  const otherMethod = new URLSearchParams({ ...(next && { next }), ...(!isBackup && { backup: "" }) });
  return (
    <NarrowPage
      title={t("title")}
      description={t(isBackup ? "backupAbout" : "about")}
      after={
        <span className="flex flex-wrap justify-between gap-x-4 gap-y-2">
          <TextLink href={`/sign-in/two-factor?${otherMethod}`}>
            {t(isBackup ? "useCode" : "useBackup")}
          </TextLink>
          <TextLink href={signInPath(next || null)}>{auth("forgotten.back")}</TextLink>
        </span>
      }
    >
      <ActionForm
        key={String(isBackup)}
        action={formAction(isBackup ? signInWithBackupCode : signInWithCode)}
        className="flex flex-col gap-3"
      >
        {next && <input type="hidden" name="next" value={next} />}
        {isBackup ? (
          <Field
            label={t("backupCode")}
            name="code"
            required
            maxLength={40}
            autoComplete="off"
            spellCheck={false}
          />
        ) : (
          <TotpField label={t("code")} help={setup("codeHelp")} />
        )}
        <Checkbox label={t("trust")} help={t("trustHelp")} name="trustDevice" />
        <SubmitButton className="mt-2">{t("submit")}</SubmitButton>
      </ActionForm>
    </NarrowPage>
  );
}
