import { getTranslations } from "next-intl/server";
import { ActionForm } from "../../../../ui/action-form.tsx";
import { Card } from "../../../../ui/card.tsx";
import { Field } from "../../../../ui/field.tsx";
import { PasswordAccount } from "../../../../ui/password-account.tsx";
import { Status } from "../../../../ui/status.tsx";
import { SubmitButton } from "../../../../ui/submit-button.tsx";
import { TotpField } from "../../../../ui/totp-field.tsx";
import { formAction } from "../../../gate/form-action.ts";
import { profile } from "../../../gate/read.ts";
import { confirmTwoFactor, createBackupCodes, disableTwoFactor, enableTwoFactor } from "./actions.ts";
import { NewBackupCodes } from "./backup-codes.tsx";
import { TwoFactorSetup } from "./two-factor-setup.tsx";

export async function TwoFactorCard({ isEnabled }: { isEnabled: boolean }) {
  const t = await getTranslations("security.twoFactor");
  return (
    <Card
      title={t("title")}
      description={t(isEnabled ? "aboutOn" : "aboutOff")}
      action={<Status tone={isEnabled ? "good" : "neutral"}>{t(isEnabled ? "on" : "off")}</Status>}
    >
      {isEnabled ? <Enabled /> : <Setup />}
    </Card>
  );
}

async function Setup() {
  const t = await getTranslations("security.twoFactor");
  return (
    <TwoFactorSetup
      enable={formAction(enableTwoFactor)}
      confirm={formAction(confirmTwoFactor)}
      labels={{ scan: t("scan"), qr: t("qr"), secret: t("secret"), codes: t("codes") }}
      confirmFields={
        <>
          <TotpField label={t("code")} help={t("codeHelp")} />
          <div>
            <SubmitButton>{t("confirm")}</SubmitButton>
          </div>
        </>
      }
    >
      <PasswordField label={t("password")} />
      <div>
        <SubmitButton>{t("enable")}</SubmitButton>
      </div>
    </TwoFactorSetup>
  );
}

async function Enabled() {
  const t = await getTranslations("security.twoFactor");
  return (
    <div className="flex flex-col gap-4">
      <details>
        <summary className="w-fit py-1 text-accent">{t("newCodes")}</summary>
        <ActionForm action={formAction(createBackupCodes)} className="mt-3 flex max-w-md flex-col gap-4">
          <p className="text-muted">{t("newCodesAbout")}</p>
          <PasswordField label={t("password")} />
          <div>
            <SubmitButton variant="secondary">{t("newCodesSubmit")}</SubmitButton>
          </div>
          <NewBackupCodes label={t("codes")} />
        </ActionForm>
      </details>
      <details>
        <summary className="w-fit py-1 text-bad">{t("disable")}</summary>
        <ActionForm action={formAction(disableTwoFactor)} className="mt-3 flex max-w-md flex-col gap-4">
          <p className="text-muted">{t("disableAbout")}</p>
          <PasswordField label={t("password")} />
          <div>
            <SubmitButton variant="danger">{t("disableSubmit")}</SubmitButton>
          </div>
        </ActionForm>
      </details>
    </div>
  );
}

async function PasswordField({ label }: { label: string }) {
  const { email } = await profile();
  return (
    <>
      <PasswordAccount email={email} />
      <Field label={label} name="password" type="password" required autoComplete="current-password" />
    </>
  );
}
