import type { Refusal } from "../domain/refusals/refusal.ts";

/** Exactly this type, without a charset: Next.js hands the text of no other response to a script that sends a form. */
export const TYPE_FOR_SCRIPTS = "text/plain";

/** The body for a script whose form is refused before Next.js gets it; `src/ui/use-form-action.ts` reads it. `null`: there is nothing to wait for. */
export function refusalForScripts({ code, params }: Refusal): string | null {
  const { retryAfterSeconds } = params;
  return typeof retryAfterSeconds === "number" ? JSON.stringify({ code, retryAfterSeconds }) : null;
}
