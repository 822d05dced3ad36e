import { rfc3339 } from "../rfc3339.ts";
import { findCustomer, type ProviderSlot } from "../server/provider-slot.ts";
import type { Customer } from "../server/state.ts";
import { noEntity } from "./errors.ts";

export function requireCustomer(slot: ProviderSlot, id: string): Customer {
  const known = findCustomer(slot, id);
  if (!known) throw noEntity(id);
  return known;
}

export function customer({ id, email, externalId, createdAtSeconds }: Customer): object {
  const createdAt = rfc3339(createdAtSeconds);
  return {
    ...{ id, email, name: null, locale: "en", status: "active", marketing_consent: false },
    ...{
      custom_data: externalId === null ? null : { userId: externalId },
      import_meta: null,
      created_at: createdAt,
      updated_at: createdAt,
    },
  };
}
