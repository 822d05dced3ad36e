import { revalidatePath } from "next/cache";
import { refusalOf } from "./refusal.ts";

/** Has the page shown anew where what an action is about is gone, as when another tab has removed it. */
export async function revalidateIfGone<Result>(path: string, action: Promise<Result>): Promise<Result> {
  try {
    return await action;
  } catch (error) {
    if (refusalOf(error)?.reason === "not_found") revalidatePath(path);
    throw error;
  }
}
