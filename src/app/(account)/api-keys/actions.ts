"use server";

import { revalidatePath } from "next/cache";
import { getTranslations } from "next-intl/server";
import type { z } from "zod";
import { createApiKey } from "../../../operations/api-keys/create-api-key.ts";
import { revokeApiKey } from "../../../operations/api-keys/revoke-api-key.ts";
import { endOfDay } from "../../gate/end-of-day.ts";
import { FieldError } from "../../gate/field-error.ts";
import { formText } from "../../gate/form-text.ts";
import { runAction } from "../../gate/run-action.ts";

type NewKey = z.input<typeof createApiKey.output>;

/**
 * Fields: `name`, and `expiresAt`: a time, or the last day on which it is valid; empty for a year, `never`
 * for never.
 */
export async function createApiKeyAction(form: FormData): Promise<NewKey> {
  const created = await runAction(createApiKey, form, () => {
    const expiresAt = form.get("expiresAt");
    return {
      name: form.get("name"),
      ...(expiresAt ? { expiresAt: expiresAt === "never" ? null : endOfDay(expiresAt) } : {}),
    };
  });
  // Its notification is counted in the side bar of every page.
  revalidatePath("/", "layout");
  return created;
}

/** Fields: `id`, and from the page `name` with `confirmation`, which has to repeat it. */
export async function deleteApiKeyAction(form: FormData): Promise<void> {
  await runAction(revokeApiKey, form, async () => {
    const name = formText(form, "name");
    if (name !== null && asShown(formText(form, "confirmation") ?? "") !== asShown(name)) {
      throw new FieldError("confirmation", (await getTranslations("apiKeys.revoke"))("mismatch"));
    }
    return { id: form.get("id") };
  });
  revalidatePath("/api-keys");
}

/** Browsers show several spaces, of any kind, as one. */
function asShown(text: string): string {
  return text.trim().replaceAll(/\s+/g, " ");
}
