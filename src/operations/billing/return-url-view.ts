import { z } from "zod";
import { refuse } from "../../domain/refusals/refusal.ts";

export const ReturnUrl = z
  .url({ protocol: /^https?$/ })
  .max(2_000)
  .describe(
    "Where the user returns to afterwards, at one of `RETURN_ORIGINS`; defaults to the billing page.",
  );

export type ReturnDeps = { returnOrigins: readonly string[] };

/** @throws Refusal `return_url_not_allowed` */
export function assertReturnUrl({ returnOrigins }: ReturnDeps, returnUrl: string | undefined): void {
  if (returnUrl === undefined || returnOrigins.includes(new URL(returnUrl).origin)) return;
  refuse({
    reason: "return_url_not_allowed",
    params: { origins: [...returnOrigins] },
    field: "returnUrl",
  });
}
