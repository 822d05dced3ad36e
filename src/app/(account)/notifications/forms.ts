"use server";

import type { Outcome } from "../../../ui/outcome.ts";
import { outcomeOf } from "../../gate/outcome.ts";
import { markAllRead, markRead } from "./actions.ts";

export async function readOne(_before: Outcome, form: FormData): Promise<Outcome> {
  return outcomeOf(form, () => markRead(form));
}

export async function readAll(_before: Outcome, form: FormData): Promise<Outcome> {
  return outcomeOf(form, () => markAllRead());
}
