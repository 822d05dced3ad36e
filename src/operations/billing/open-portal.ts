import { z } from "zod";
import { refuse } from "../../domain/refusal.ts";
import { defineOperation } from "../operation.ts";

export const openPortal = defineOperation({
  name: "billing.openPortal",
  summary: "Opens the payment provider's portal and tells where",
  access: "person",
  limit: "billing",
  input: z.strictObject({}),
  output: z.object({ url: z.url() }),
  run: async () => refuse("unavailable", "no payment provider is configured"),
});
