"use server";

import { revalidatePath } from "next/cache";
import { redirect } from "next/navigation";
import { revokeOtherSessions as revokeOthers } from "../../../../operations/sessions/revoke-other-sessions.ts";
import { revokeSession as revoke } from "../../../../operations/sessions/revoke-session.ts";
import { showSecurity } from "../../../../operations/users/show-security.ts";
import { callAccounts } from "../../../gate/accounts.ts";
import { formText } from "../../../gate/form-text.ts";
import { read } from "../../../gate/read.ts";
import { refusalOf } from "../../../gate/refusal.ts";
import { requireUserOfAction } from "../../../gate/request.ts";
import { runAction } from "../../../gate/run-action.ts";
import { qrPath } from "./qr-path.ts";
import type { TwoFactorSecret } from "./two-factor-setup.tsx";

const PATH = "/settings/security";

/** Field: `password`. It is active only once a code has been confirmed. */
export async function enableTwoFactor(form: FormData): Promise<TwoFactorSecret> {
  await requireUserOfAction();
  const password = formText(form, "password");
  const { totpURI, backupCodes } = (await callAccounts("/two-factor/enable", { password }).catch((error) =>
    showIfSwitched("on", error),
  )) as { totpURI: string; backupCodes: string[] };
  return {
    qr: qrPath(totpURI),
    uri: totpURI,
    secret: new URL(totpURI).searchParams.get("secret") ?? "",
    backupCodes,
  };
}

/** Field: `code`, from the authenticator app. */
export async function confirmTwoFactor(form: FormData): Promise<never> {
  await requireUserOfAction();
  await callAccounts("/two-factor/verify-totp", { code: formText(form, "code") });
  revalidatePath(PATH);
  redirect(`${PATH}?done=two-factor-on`);
}

/** Field: `password`. */
export async function disableTwoFactor(form: FormData): Promise<never> {
  await requireUserOfAction();
  await callAccounts("/two-factor/disable", { password: formText(form, "password") });
  revalidatePath(PATH);
  redirect(`${PATH}?done=two-factor-off`);
}

/** Field: `password`. The codes before these stop working. */
export async function createBackupCodes(form: FormData): Promise<{ backupCodes: string[] }> {
  await requireUserOfAction();
  const password = formText(form, "password");
  return (await callAccounts("/two-factor/generate-backup-codes", { password }).catch((error) =>
    showIfSwitched("off", error),
  )) as { backupCodes: string[] };
}

/**
 * Where two-factor authentication has been switched in another tab, so that there is nothing to do, the page shows
 * that. Better Auth's error for it has no reason of its own here.
 */
async function showIfSwitched(to: "on" | "off", error: unknown): Promise<never> {
  const refusal = refusalOf(error);
  if (refusal?.reason !== "invalid_input" || refusal.field !== null) throw error;
  const { hasTwoFactor } = await read(showSecurity, {});
  if (hasTwoFactor !== (to === "on")) throw error;
  revalidatePath(PATH);
  redirect(`${PATH}?done=two-factor-${to}`);
}

/** Field: the session's `id`. */
export async function revokeSession(form: FormData): Promise<void> {
  try {
    await runAction(revoke, form, () => ({ id: form.get("id") }));
  } catch (error) {
    // A session that has ended already needs no action.
    if (refusalOf(error)?.code !== "not_found") throw error;
  }
  revalidatePath(PATH);
}

export async function revokeOtherSessions(form: FormData): Promise<never> {
  await runAction(revokeOthers, form, () => ({}));
  revalidatePath(PATH);
  redirect(`${PATH}?done=session-revoked`);
}
