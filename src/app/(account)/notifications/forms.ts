"use server";

import type { Outcome } from "../../../ui/outcome.ts";
import { catchRefusals } from "../../gate/outcome.ts";
import { markAllRead, markRead } from "./actions.ts";

export async function submitMarkRead(_before: Outcome, form: FormData): Promise<Outcome> {
  return catchRefusals(form, () => markRead(form));
}

export async function submitMarkAllRead(_before: Outcome, form: FormData): Promise<Outcome> {
  return catchRefusals(form, () => markAllRead());
}
