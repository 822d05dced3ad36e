"use server";

import { revalidatePath } from "next/cache";
import type { z } from "zod";
import { createApiKey } from "../../../operations/api-keys/create-api-key.ts";
import { revokeApiKey } from "../../../operations/api-keys/revoke-api-key.ts";
import { runAction } from "../../gate/run-action.ts";

type NewKey = z.input<typeof createApiKey.output>;

/** `name`, and `expiresAt`: a time, or a day, which is the last one; empty for never. */
export async function createApiKeyAction(form: FormData): Promise<NewKey> {
  const made = await runAction(createApiKey, form, () => {
    const expiresAt = form.get("expiresAt");
    return {
      name: form.get("name"),
      ...(expiresAt === null || expiresAt === "" ? {} : { expiresAt: endOf(expiresAt) }),
    };
  });
  // Its owner is told of it, and the side bar counts that.
  revalidatePath("/", "layout");
  return made;
}

function endOf(day: FormDataEntryValue): FormDataEntryValue {
  return typeof day === "string" && /^\d{4}-\d\d-\d\d$/.test(day) ? `${day}T23:59:59.999Z` : day;
}

/** `id`. */
export async function deleteApiKeyAction(form: FormData): Promise<void> {
  await runAction(revokeApiKey, form, () => ({ id: form.get("id") }));
  revalidatePath("/api-keys");
}
