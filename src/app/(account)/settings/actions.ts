"use server";

import { revalidatePath } from "next/cache";
import { redirect } from "next/navigation";
import type { z } from "zod";
import { createCalendarLink as createLink } from "../../../operations/calendar/create-calendar-link.ts";
import { revokeCalendarLink as revokeLink } from "../../../operations/calendar/revoke-calendar-link.ts";
import { deleteAccount as deleteAccountOperation } from "../../../operations/users/delete-account.ts";
import { setLocale as setLocaleOperation } from "../../../operations/users/set-locale.ts";
import { updateProfile as updateProfileOperation } from "../../../operations/users/update-profile.ts";
import { callAccounts } from "../../gate/accounts.ts";
import { markAccountDeleted } from "../../gate/deleted-account.ts";
import { formText } from "../../gate/form-text.ts";
import { refusalOf } from "../../gate/refusal.ts";
import { requireUserOfAction } from "../../gate/request.ts";
import { runAction } from "../../gate/run-action.ts";

/** Fields: `name`, or `theme` with `emailNotifications`, or all three. */
export async function updateProfile(form: FormData): Promise<void> {
  await runAction(updateProfileOperation, form, () => {
    const name = form.get("name");
    const theme = form.get("theme");
    return {
      // A form with neither is refused, like one without a name.
      ...(name === null && theme !== null ? {} : { name: name ?? "" }),
      ...(theme === null
        ? {}
        : { preferences: { theme, emailNotifications: form.get("emailNotifications") === "on" } }),
    };
  });
  // Every page shows the name and follows the theme.
  revalidatePath("/", "layout");
}

export async function setLocale(form: FormData): Promise<void> {
  await runAction(setLocaleOperation, form, () => ({ locale: form.get("locale") }));
  revalidatePath("/", "layout");
}

/** Replaces the address there was. Returns the new one, this once. */
export async function createCalendarLink(form: FormData): Promise<z.input<typeof createLink.output>> {
  const created = await runAction(createLink, form, () => ({}));
  revalidatePath("/settings");
  return created;
}

export async function revokeCalendarLink(form: FormData): Promise<void> {
  await runAction(revokeLink, form, () => ({}));
  revalidatePath("/settings");
}

/** Field: `newEmail`. Mails a link to both addresses. */
export async function changeEmail(form: FormData): Promise<void> {
  await requireUserOfAction();
  await callAccounts("/change-email", { newEmail: formText(form, "newEmail") });
  revalidatePath("/settings");
}

/** Fields: `currentPassword`, `newPassword`, `revokeApiKeys`. Signs out all other sessions. */
export async function changePassword(form: FormData): Promise<void> {
  await requireUserOfAction();
  await callAccounts("/change-password", {
    currentPassword: formText(form, "currentPassword"),
    newPassword: formText(form, "newPassword"),
    revokeApiKeys: formText(form, "revokeApiKeys") === "on",
  });
  revalidatePath("/settings");
}

/**
 * For good, when `confirmation` is the account's email address; whatever is being paid for is canceled first.
 */
export async function deleteAccount(form: FormData): Promise<void> {
  try {
    await runAction(deleteAccountOperation, form, () => ({ confirmation: form.get("confirmation") }));
  } catch (error) {
    // Deleted by a click just before: its response, with the way on, has been replaced by this one.
    if (refusalOf(error)?.code !== "not_found") throw error;
  }
  // Takes the cookie back; there is no session behind it any more, and nothing to undo if this fails.
  await callAccounts("/sign-out", {}).catch(() => null);
  await markAccountDeleted();
  revalidatePath("/", "layout");
  redirect("/farewell");
}
