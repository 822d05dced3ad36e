import type { Form } from "../http/form.ts";
import { portalUrl } from "../server/portal-link.ts";
import { findCustomer, type ProviderSlot } from "../server/provider-slot.ts";
import { invalid, missing } from "./errors.ts";
import { webUrl } from "./order.ts";

export function portalSession(slot: ProviderSlot, form: Form): object {
  const customerId = form.text("customer");
  if (!customerId) throw invalid("Missing required param: customer.", "customer");
  if (!findCustomer(slot, customerId)) throw missing("customer", customerId, "customer", 400);
  const returnUrl = webUrl(form, "return_url");
  return {
    id: `bps_${slot.state.run}${Date.now().toString(36)}`,
    object: "billing_portal.session",
    configuration: `bpc_${slot.state.run}`,
    created: Math.floor(slot.nowMs() / 1_000),
    customer: customerId,
    customer_account: null,
    flow: null,
    livemode: false,
    locale: null,
    on_behalf_of: null,
    return_url: returnUrl,
    url: portalUrl(slot, { customerId, returnUrl }),
  };
}
