import { z } from "zod";
import type { BillingTools } from "../../billing/checkout-order.ts";
import { mapProviderErrors, providerOf } from "../../billing/map-provider-errors.ts";
import { isAnyConfigured } from "../../domain/providers/payment-api.ts";
import { notFound, refuse } from "../../domain/refusals/refusal.ts";
import { customersOfUser } from "../../store/subscriptions/customers.ts";
import { findUser } from "../../store/users/users.ts";
import { defineOperation } from "../operation.ts";
import { assertReturnUrl, type ReturnDeps, ReturnUrl } from "./return-url-view.ts";

export const openPortal = defineOperation({
  name: "billing.openPortal",
  summary: "Opens the payment provider's customer portal and returns its URL",
  // An API key that leaks must not open the pages where cards and invoices are.
  access: "session",
  permission: "checkout:write",
  limit: "billing",
  input: z.strictObject({
    subscriptionId: z
      .uuid()
      .optional()
      .describe("The subscription to manage, if there are several; defaults to the active one."),
    returnUrl: ReturnUrl.optional(),
  }),
  reasons: [
    "return_url_not_allowed",
    "not_found",
    "no_subscription",
    "provider_not_configured",
    "provider_unreachable",
    "provider_rejected",
    "email_known_to_provider",
  ],
  output: z.object({ url: z.url().describe("The portal, at the provider; it works for a short time.") }),
  run: async (
    deps: Omit<BillingTools, "plans" | "activeProvider" | "intake"> & ReturnDeps,
    { userId },
    { subscriptionId, returnUrl },
  ) => {
    assertReturnUrl(deps, returnUrl);
    if (!isAnyConfigured(deps.payments)) refuse({ reason: "provider_not_configured" });
    const [user, customers] = await Promise.all([
      findUser(deps.database, userId),
      customersOfUser(deps.database, userId),
    ]);
    if (!user) notFound("user");
    const customer = subscriptionId
      ? (customers.find((customer) => customer.subscriptionId === subscriptionId) ?? notFound("subscription"))
      : customers[0];
    if (!customer) refuse({ reason: "no_subscription" });
    const { provider, customerId, providerSubscriptionId } = customer;
    const opening = providerOf(deps.payments, provider).openPortal({
      userId,
      email: user.email,
      isEmailConfirmed: user.emailVerified,
      customerId,
      providerSubscriptionId,
      ownSubscriptionIds: customers.flatMap((customer) =>
        customer.provider === provider && customer.providerSubscriptionId !== null
          ? [customer.providerSubscriptionId]
          : [],
      ),
      returnUrl: returnUrl ?? `${deps.appUrl}/billing`,
    });
    const { url } = await mapProviderErrors(deps, { slot: provider, userId }, opening);
    return { url };
  },
});
