"use server";

import { revalidatePath } from "next/cache";
import { redirect } from "next/navigation";
import { callAccounts } from "../../../gate/accounts.ts";
import { formText } from "../../../gate/form-text.ts";
import { requireUser } from "../../../gate/request.ts";
import { qrPath } from "./qr-path.ts";
import { listSessions } from "./sessions.ts";
import type { TwoFactorSecret } from "./two-factor-setup.tsx";

const PATH = "/settings/security";

/** Field: `password`. It is active only once a code has been confirmed. */
export async function enableTwoFactor(form: FormData): Promise<TwoFactorSecret> {
  await requireUser();
  const { totpURI, backupCodes } = (await callAccounts("/two-factor/enable", {
    password: formText(form, "password"),
  })) as { totpURI: string; backupCodes: string[] };
  return {
    qr: qrPath(totpURI),
    uri: totpURI,
    secret: new URL(totpURI).searchParams.get("secret") ?? "",
    backupCodes,
  };
}

/** Field: `code`, from the authenticator app. */
export async function confirmTwoFactor(form: FormData): Promise<never> {
  await requireUser();
  await callAccounts("/two-factor/verify-totp", { code: formText(form, "code") });
  revalidatePath(PATH);
  redirect(`${PATH}?done=two-factor-on`);
}

/** Field: `password`. */
export async function disableTwoFactor(form: FormData): Promise<never> {
  await requireUser();
  await callAccounts("/two-factor/disable", { password: formText(form, "password") });
  revalidatePath(PATH);
  redirect(`${PATH}?done=two-factor-off`);
}

/** Field: `password`. The codes before these stop working. */
export async function createBackupCodes(form: FormData): Promise<{ backupCodes: string[] }> {
  await requireUser();
  return (await callAccounts("/two-factor/generate-backup-codes", {
    password: formText(form, "password"),
  })) as { backupCodes: string[] };
}

/** Field: the session's `id`. */
export async function revokeSession(form: FormData): Promise<never> {
  await requireUser();
  const session = (await listSessions()).find(({ id }) => id === formText(form, "id"));
  // One that has ended already needs no end.
  if (session) await callAccounts("/revoke-session", { token: session.token });
  revalidatePath(PATH);
  redirect(`${PATH}?done=session-revoked`);
}

export async function revokeOtherSessions(): Promise<never> {
  await requireUser();
  await callAccounts("/revoke-other-sessions", {});
  revalidatePath(PATH);
  redirect(`${PATH}?done=session-revoked`);
}
