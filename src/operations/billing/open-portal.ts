import { z } from "zod";
import { refuse } from "../../domain/refusal.ts";
import { customersOfUser } from "../../store/customers.ts";
import { defineOperation } from "../operation.ts";
import { asked, NOT_CONFIGURED, providerOf } from "./ask-provider.ts";
import type { BillingTools } from "./create-checkout.ts";

export const openPortal = defineOperation({
  name: "billing.openPortal",
  summary: "Opens the payment provider's portal and tells where",
  access: "person",
  limit: "billing",
  input: z.strictObject({}),
  output: z.object({ url: z.url() }),
  run: async (deps: Omit<BillingTools, "plans" | "activeProvider">, { userId }) => {
    if (Object.values(deps.payments).every((api) => api === null)) refuse("unavailable", NOT_CONFIGURED);
    const [customer] = await customersOfUser(deps.database, userId);
    if (!customer) refuse("conflict", "There is no subscription to manage yet: choose a plan first.");
    const { provider, ...known } = customer;
    const opening = providerOf(deps.payments, provider).openPortal({
      ...known,
      returnUrl: `${deps.appUrl}/billing`,
    });
    const { url } = await asked(deps, { slot: provider, userId }, opening);
    return { url };
  },
});
