"use server";

import { revalidatePath } from "next/cache";
import type { z } from "zod";
import { createApiKey } from "../../../operations/api-keys/create-api-key.ts";
import { revokeApiKey } from "../../../operations/api-keys/revoke-api-key.ts";
import { revalidateIfGone } from "../../gate/revalidate-if-gone.ts";
import { runAction } from "../../gate/run-action.ts";
import { assertNameRepeated } from "./assert-name-repeated.ts";
import { expiryIn } from "./expiry-in.ts";

type NewKey = z.input<typeof createApiKey.output>;

/** Fields: `name`, and that of `expiryIn`. */
export async function createApiKeyAction(form: FormData): Promise<NewKey> {
  const created = await runAction(createApiKey, form, () => ({
    name: form.get("name"),
    ...expiryIn(form),
  }));
  // Its notification is counted in the side bar of every page.
  revalidatePath("/", "layout");
  return created;
}

/** Fields: `id`, and from the page `name` with `confirmation`, which has to repeat it. */
export async function deleteApiKeyAction(form: FormData): Promise<void> {
  const revoking = runAction(revokeApiKey, form, async () => {
    await assertNameRepeated(form);
    return { id: form.get("id") };
  });
  await revalidateIfGone("/api-keys", revoking);
  revalidatePath("/api-keys");
}
