"use server";

import { revalidatePath } from "next/cache";
import { getTranslations } from "next-intl/server";
import type { z } from "zod";
import { createServiceKey as createOperation } from "../../../../operations/service-keys/create-service-key.ts";
import { revokeServiceKey as revokeOperation } from "../../../../operations/service-keys/revoke-service-key.ts";
import { rotateServiceKey as rotateOperation } from "../../../../operations/service-keys/rotate-service-key.ts";
import { checkedValues } from "../../../gate/checked-values.ts";
import { endOfDay } from "../../../gate/end-of-day.ts";
import { FieldError } from "../../../gate/field-error.ts";
import { formText } from "../../../gate/form-text.ts";
import { runAction } from "../../../gate/run-action.ts";

const PATH = "/admin/service-keys";

/**
 * Fields: `name`, `limit`, `permissions.<permission>` for each one, and `expiresAt`: a time, or the last day
 * on which the key is valid; empty for a year, `never` for never. Returns the key, this once.
 */
export async function createServiceKey(form: FormData): Promise<z.input<typeof createOperation.output>> {
  const created = await runAction(createOperation, form, async () => {
    const expiresAt = formText(form, "expiresAt");
    const limit = formText(form, "limit");
    return {
      name: formText(form, "name"),
      permissions: (await checkedValues(form, "permissions")) ?? [],
      ...(limit ? { limit } : {}),
      ...(expiresAt ? { expiresAt: expiresAt === "never" ? null : endOfDay(expiresAt) } : {}),
    };
  });
  revalidatePath(PATH);
  return created;
}

/** Field: `id`. Returns the new key, this once. */
export async function rotateServiceKey(form: FormData): Promise<z.input<typeof rotateOperation.output>> {
  const rotated = await runAction(rotateOperation, form, () => ({ id: formText(form, "id") }));
  revalidatePath(PATH);
  return rotated;
}

/** Fields: `id`, and from the page `name` with `confirmation`, which has to repeat it. */
export async function revokeServiceKey(form: FormData): Promise<void> {
  await runAction(revokeOperation, form, async () => {
    const name = formText(form, "name");
    if (name !== null && formText(form, "confirmation")?.trim() !== name) {
      throw new FieldError("confirmation", (await getTranslations("apiKeys.revoke"))("mismatch"));
    }
    return { id: formText(form, "id") };
  });
  revalidatePath(PATH);
}
