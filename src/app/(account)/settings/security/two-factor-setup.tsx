"use client";

import type { ReactNode } from "react";
import { OutcomeForm } from "../../../../ui/outcome-form.tsx";
import { useFocus } from "../../../../ui/use-focus.ts";
import { type FormAction, useFormAction } from "../../../../ui/use-form-action.ts";
import { BackupCodes } from "./backup-codes.tsx";
import type { QrPath } from "./qr-path.ts";

export type TwoFactorSecret = { qr: QrPath; uri: string; secret: string; backupCodes: string[] };

const FORM = "flex max-w-md flex-col gap-4";

type Labels = Record<"scan" | "qr" | "secret" | "codes", string>;

/**
 * First the password; then the secret with the form that confirms it. Without JavaScript a refused code comes
 * back without the secret, which the app has by then.
 */
export function TwoFactorSetup({
  enable,
  confirm,
  labels,
  confirmFields,
  children,
}: {
  enable: FormAction;
  confirm: FormAction;
  labels: Labels;
  /** The fields of the second form. */
  confirmFields: ReactNode;
  /** The fields of the first form. */
  children: ReactNode;
}) {
  const [outcome, submit] = useFormAction(enable);
  const [confirmed, submitCode] = useFormAction(confirm);
  const secret = outcome?.done ? (outcome.value as TwoFactorSecret) : null;
  if (secret === null && confirmed?.done !== false) {
    return (
      <OutcomeForm outcome={outcome} submit={submit} className={FORM}>
        {children}
      </OutcomeForm>
    );
  }
  return (
    <div className="flex flex-col gap-6">
      {secret && <Secret secret={secret} labels={labels} />}
      <OutcomeForm outcome={confirmed} submit={submitCode} className={FORM}>
        {confirmFields}
      </OutcomeForm>
    </div>
  );
}

function Secret({ secret, labels }: { secret: TwoFactorSecret; labels: Labels }) {
  return (
    <>
      <div className="flex flex-col gap-3">
        <p ref={useFocus<HTMLParagraphElement>()} tabIndex={-1} className="max-w-prose">
          {labels.scan}
        </p>
        {/* Dark on light in both themes, or scanners do not read it. */}
        <svg
          role="img"
          aria-label={labels.qr}
          viewBox={`0 0 ${secret.qr.size} ${secret.qr.size}`}
          shapeRendering="crispEdges"
          className="size-44 rounded-box border border-line"
        >
          <rect width="100%" height="100%" fill="#fff" />
          <path d={secret.qr.path} fill="#000" />
        </svg>
        <dl>
          <dt className="text-muted text-sm">{labels.secret}</dt>
          <dd className="select-all break-all font-mono">{secret.secret}</dd>
        </dl>
      </div>
      <BackupCodes label={labels.codes} codes={secret.backupCodes} />
    </>
  );
}
