"use server";

import { revalidatePath } from "next/cache";
import { markAllRead as markAllReadOperation } from "../../../operations/notifications/mark-all-read.ts";
import { markRead as markReadOperation } from "../../../operations/notifications/mark-read.ts";
import { runAction } from "../../gate/run-action.ts";

/** `id`. */
export async function markRead(form: FormData): Promise<void> {
  await runAction(markReadOperation, form, () => ({ id: form.get("id") }));
  revalidate();
}

export async function markAllRead(): Promise<void> {
  await runAction(markAllReadOperation, new FormData(), () => ({}));
  revalidate();
}

/** The side bar's count appears on every page. */
function revalidate(): void {
  revalidatePath("/", "layout");
}
