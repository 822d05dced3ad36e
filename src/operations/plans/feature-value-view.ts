import { z } from "zod";
import { FEATURE_KINDS } from "../../domain/plans/feature.ts";

export const FEATURE_ID_DESCRIPTION = "The feature's id in `plans.config.ts`.";

/** What a feature grants, wherever it is shown. */
export const FEATURE_VALUE = {
  kind: z.enum(FEATURE_KINDS).describe("What `value` means."),
  value: z
    .union([z.boolean(), z.int()])
    .describe(
      "For a flag, whether it is on; for a limit, the number; for a quota, the amount per billing period.",
    ),
};
