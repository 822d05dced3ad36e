import type { PayingCustomer } from "../../domain/providers/payment-api.ts";
import { isSameAddress } from "../../domain/users/email-address.ts";
import type { ConnectedProvider } from "./connected-provider.ts";
import { problem, type RefusedByProvider } from "./problems.ts";

/** Whether the person has proved to own this address. Providers take addresses from whoever types them. */
export function hasConfirmed(
  { email, isEmailConfirmed }: Pick<PayingCustomer, "email" | "isEmailConfirmed">,
  address: string | null,
): boolean {
  return isEmailConfirmed && isSameAddress(email, address);
}

/** The person may have paid as somebody else's customer, whose portal shows what that one has bought. */
export function foreignCustomer(provider: ConnectedProvider): RefusedByProvider {
  return problem(
    provider,
    "taken",
    "the customer is not the person's alone, and the person has not confirmed the customer's address",
  );
}
