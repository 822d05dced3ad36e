import { formText } from "./form-text.ts";
import { currentRequest } from "./request.ts";

/**
 * Whether a form was shown to another account than the one that sends it: somebody else has signed in since, in
 * another tab. False if nobody is signed in, or that cannot be looked up: the action has an answer for both.
 */
export async function isOtherAccount(form: FormData): Promise<boolean> {
  const account = formText(form, "account");
  if (account === null) return false;
  const { person } = await currentRequest();
  const someone = await person().catch(() => null);
  return someone !== null && someone.userId !== account;
}
