import { randomUUID } from "node:crypto";
import type { Json } from "../http/json-body.ts";
import { rfc3339 } from "../rfc3339.ts";
import { portalUrl } from "../server/portal-link.ts";
import { nowSeconds, type ProviderSlot } from "../server/provider-slot.ts";
import { uuid } from "../uuid.ts";
import { polarCustomer } from "./customer.ts";
import { unprocessable } from "./errors.ts";
import { webUrl } from "./order.ts";

export function customerSession(slot: ProviderSlot, order: Json): object {
  const id = order.at("customer_id").text();
  const externalId = order.at("external_customer_id").text();
  const existing = slot.state.customers.find(
    (customer) => customer.id === id || (externalId !== null && customer.externalId === externalId),
  );
  if (!existing)
    throw unprocessable([id === null ? "external_customer_id" : "customer_id"], "Customer does not exist.");
  // All products here are seat-based: their customers have members, one of whom is required.
  const member = order.at("member_id").text() ?? order.at("external_member_id").text();
  if (member === null) throw unprocessable(["member_id"], "member_id or external_member_id is required.");
  if (member !== existing.externalId && member !== memberIdOf(existing.id))
    throw unprocessable(["external_member_id"], "Member does not exist.");
  const returnUrl = webUrl(order, "return_url");
  const url = portalUrl(slot, { customerId: existing.id, returnUrl });
  const now = nowSeconds(slot);
  return {
    id: randomUUID(),
    created_at: rfc3339(now),
    modified_at: null,
    token: `polar_cst_${url.split("/").at(-1)}`,
    expires_at: rfc3339(now + slot.traits.portalLifetimeSeconds),
    return_url: returnUrl,
    customer_portal_url: url,
    customer_id: existing.id,
    customer: polarCustomer(existing),
  };
}

function memberIdOf(customerId: string): string {
  return uuid(`member ${customerId}`);
}
