import { z } from "zod";
import { retryDue } from "../../intake/claims/retry.ts";
import type { Intake } from "../../intake/intake.ts";
import { defineOperation } from "../operation.ts";

export const retryDeliveries = defineOperation({
  name: "webhooks.retry",
  summary: "Runs `webhook-retry` once: processes due deliveries and claims with an expired lease",
  access: "operator",
  limit: null,
  input: z.strictObject({}),
  reasons: [],
  output: z.object({
    applied: z.int(),
    ignored: z.int(),
    failed: z.int(),
    gaveUp: z.int(),
  }),
  run: (deps: { intake: Intake }) => retryDue(deps.intake),
});
