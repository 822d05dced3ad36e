"use server";

import { revalidatePath } from "next/cache";
import { getTranslations } from "next-intl/server";
import type { Outcome } from "../../../ui/outcome.ts";
import { formText } from "../../gate/form-text.ts";
import { catchRefusals } from "../../gate/outcome.ts";
import { requireUser } from "../../gate/request.ts";
import { createApiKeyAction, deleteApiKeyAction } from "./actions.ts";

export async function submitCreateKey(_before: Outcome, form: FormData): Promise<Outcome> {
  return catchRefusals(form, () => createApiKeyAction(form));
}

/** Asks for the key's name: `confirm-<id>` has to be the same as `name`. */
export async function submitRevokeKey(_before: Outcome, form: FormData): Promise<Outcome> {
  const field = `confirm-${formText(form, "id")}`;
  if (formText(form, field)?.trim() !== formText(form, "name")) {
    // Strangers are told nothing, whatever they type.
    await requireUser();
    const message = (await getTranslations("apiKeys.revoke"))("mismatch");
    return { done: false, code: "invalid_input", message, field, retryAfterSeconds: null, entered: {} };
  }
  const outcome = await catchRefusals(form, () => deleteApiKeyAction(form));
  // Revoked elsewhere in the meantime: the list is to show that.
  if (outcome?.done === false && outcome.code === "not_found") revalidatePath("/api-keys");
  return outcome;
}
