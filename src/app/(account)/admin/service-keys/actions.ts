"use server";

import { revalidatePath } from "next/cache";
import type { z } from "zod";
import { createServiceKey as createOperation } from "../../../../operations/service-keys/create-service-key.ts";
import { revokeServiceKey as revokeOperation } from "../../../../operations/service-keys/revoke-service-key.ts";
import { rotateServiceKey as rotateOperation } from "../../../../operations/service-keys/rotate-service-key.ts";
import { checkedValues } from "../../../gate/checked-values.ts";
import { formText } from "../../../gate/form-text.ts";
import { revalidateIfGone } from "../../../gate/revalidate-if-gone.ts";
import { runAction } from "../../../gate/run-action.ts";
import { assertNameRepeated } from "../../api-keys/assert-name-repeated.ts";
import { expiryIn } from "../../api-keys/expiry-in.ts";

const PATH = "/admin/service-keys";

/**
 * Fields: `name`, `limit`, `permissions.<permission>` for each one, and that of `expiryIn`. Returns the key, this
 * once.
 */
export async function createServiceKey(form: FormData): Promise<z.input<typeof createOperation.output>> {
  const created = await runAction(createOperation, form, async () => {
    const limit = formText(form, "limit");
    return {
      name: formText(form, "name"),
      permissions: (await checkedValues(form, "permissions")) ?? [],
      ...(limit ? { limit } : {}),
      ...expiryIn(form),
    };
  });
  revalidatePath(PATH);
  return created;
}

/** Field: `id`. Returns the new key, this once. */
export async function rotateServiceKey(form: FormData): Promise<z.input<typeof rotateOperation.output>> {
  const rotating = runAction(rotateOperation, form, () => ({ id: formText(form, "id") }));
  const rotated = await revalidateIfGone(PATH, rotating);
  revalidatePath(PATH);
  return rotated;
}

/** Fields: `id`, and from the page `name` with `confirmation`, which has to repeat it. */
export async function revokeServiceKey(form: FormData): Promise<void> {
  const revoking = runAction(revokeOperation, form, async () => {
    await assertNameRepeated(form);
    return { id: formText(form, "id") };
  });
  await revalidateIfGone(PATH, revoking);
  revalidatePath(PATH);
}
