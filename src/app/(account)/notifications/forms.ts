"use server";

import { getTranslations } from "next-intl/server";
import type { Outcome } from "../../../ui/outcome.ts";
import { outcomeOf } from "../../gate/outcome.ts";
import { worded } from "../../gate/worded.ts";
import { markAllRead, markRead } from "./actions.ts";

export async function readOne(_before: Outcome, form: FormData): Promise<Outcome> {
  const outcome = await outcomeOf(form, () => markRead(form));
  const words = await getTranslations("notifications.refusals");
  return worded(outcome, { not_found: words("notFound"), id: words("notFound") });
}

export async function readAll(_before: Outcome, form: FormData): Promise<Outcome> {
  return outcomeOf(form, () => markAllRead());
}
