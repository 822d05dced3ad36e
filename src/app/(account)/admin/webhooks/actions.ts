"use server";

import { revalidatePath } from "next/cache";
import type { z } from "zod";
import { replayDelivery as replayDeliveryOperation } from "../../../../operations/webhooks/replay-delivery.ts";
import { formText } from "../../../gate/form-text.ts";
import { runAction } from "../../../gate/run-action.ts";

type Replay = z.input<typeof replayDeliveryOperation.output>;

/** Of the form: `id`, and `force` when it is to be done although it was successful. */
export async function replayDelivery(form: FormData): Promise<Replay> {
  const replayed = await runAction(replayDeliveryOperation, form, () => ({
    id: formText(form, "id"),
    force: formText(form, "force") === "on",
  }));
  revalidatePath("/admin/webhooks", "layout");
  return replayed;
}
