import * as enums from "../enums.ts";

export const FEATURE_KIND = { type: enums.FeatureKindEnum } as const;

export const FEATURE_VALUE = {
  type: "JSON",
  description:
    "For a flag, whether it is on; for a limit, the number; for a quota, the amount per billing period.",
} as const;
