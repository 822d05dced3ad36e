"use server";

import { revalidatePath } from "next/cache";
import { getTranslations } from "next-intl/server";
import { refuse } from "../../domain/refusals/refusal.ts";
import { type FormOutcome, failedForm } from "../../ui/outcome.ts";
import { isOtherAccount } from "./is-other-account.ts";
import { catchRefusals } from "./outcome.ts";

type Action = (form: FormData) => Promise<unknown>;

/** The one endpoint of forms: runs the action that the form was bound to. @see formAction */
export async function submitForm(
  action: Action,
  _previous: FormOutcome,
  form: FormData,
): Promise<FormOutcome> {
  if (await isOtherAccount(form)) return refuseOtherAccount(form);
  const outcome = await catchRefusals(form, () =>
    isServerAction(action)
      ? action(form)
      : refuse({ reason: "invalid_input", params: { problem: "invalid" } }),
  );
  // The page was rendered before the conflicting change.
  if (outcome?.done === false && outcome.code === "conflict") revalidatePath("/", "layout");
  return outcome;
}

/** Refuses the form, and shows the page of the account that is signed in now. */
async function refuseOtherAccount(form: FormData): Promise<FormOutcome> {
  const t = await getTranslations("common");
  revalidatePath("/", "layout");
  return failedForm(form, { code: "other_account", message: t("otherAccount") });
}

/** Clients can send anything instead; what React decodes to a function need not be callable here. */
function isServerAction(action: unknown): action is Action {
  return (
    typeof action === "function" &&
    (action as { $$typeof?: symbol }).$$typeof === Symbol.for("react.server.reference")
  );
}
