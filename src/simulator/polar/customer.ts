import type { CustomData } from "../renderer.ts";
import { rfc3339 } from "../rfc3339.ts";
import { findCustomer, type ProviderSlot } from "../server/provider-slot.ts";
import type { SimulatedSubscription } from "../server/state.ts";
import { uuid } from "../uuid.ts";

export type PolarCustomer = {
  id: string;
  createdAtSeconds: number;
  email: string;
  externalId: string | null;
  name?: string | null;
  data?: CustomData;
};

export function polarCustomer(customer: PolarCustomer): object {
  const { id, createdAtSeconds, email, externalId } = customer;
  return {
    id,
    created_at: rfc3339(createdAtSeconds),
    modified_at: null,
    metadata: customer.data ?? {},
    external_id: externalId,
    email,
    email_verified: true,
    name: customer.name ?? null,
    billing_name: null,
    billing_address: null,
    tax_id: null,
    locale: null,
    default_payment_method_id: null,
    avatar_url: `https://polar.example/avatars/${id}.png`,
    organization_id: uuid("organization"),
    deleted_at: null,
    type: "individual",
  };
}

/** The id that the customer has now: one from another checkout may have been added since. */
export function externalIdOf(slot: ProviderSlot, { ids, checkout }: SimulatedSubscription): string | null {
  return findCustomer(slot, ids.customerId)?.externalId ?? checkout.externalId;
}
