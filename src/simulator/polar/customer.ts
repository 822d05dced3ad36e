import { rfc3339 } from "../rfc3339.ts";
import { uuid } from "../uuid.ts";

export type PolarCustomer = {
  id: string;
  createdAtSeconds: number;
  email: string;
  externalId: string | null;
};

export function polarCustomer({ id, createdAtSeconds, email, externalId }: PolarCustomer): object {
  return {
    id,
    created_at: rfc3339(createdAtSeconds),
    modified_at: null,
    metadata: {},
    external_id: externalId,
    email,
    email_verified: true,
    name: null,
    billing_address: null,
    tax_id: null,
    organization_id: uuid("organization"),
    deleted_at: null,
    type: "individual",
  };
}
