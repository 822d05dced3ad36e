import type { CheckoutOrder, PayingCustomer } from "../../domain/payment-api.ts";
import type { ConnectedProvider } from "../outbound/connected-provider.ts";
import { pathSegment } from "../outbound/null-if-not-found.ts";
import { hasConfirmed } from "../outbound/own-customer.ts";
import { problem } from "../outbound/problems.ts";
import { listAt, requiredText, textAt, valueAt } from "../outbound/response-fields.ts";
import type { SendRequest } from "../outbound/send-request.ts";
import { get, post } from "./requests.ts";

/**
 * A transaction needs a customer, not an address; there is one customer per address, whose portal shows everything
 * bought with it. So an address that anybody may have typed in only matches a customer created for the same person.
 */
export async function customerOf(
  provider: ConnectedProvider,
  ask: SendRequest,
  { email, isEmailConfirmed, userId }: CheckoutOrder,
): Promise<string> {
  const [known] = listAt(await ask(get(provider, `/customers?${new URLSearchParams({ email })}`)), "data");
  if (known === undefined) {
    const customer = { email, custom_data: { userId } };
    const made = await ask(post(provider, "/customers", customer, { repeatable: true }));
    return requiredText(provider, made, "data", "id");
  }
  if (isOwn({ userId, email, isEmailConfirmed }, known)) return requiredText(provider, known, "id");
  throw problem(
    provider,
    "taken",
    "a customer has this address already, and the person has not confirmed it",
  );
}

type Person = Pick<PayingCustomer, "userId" | "email" | "isEmailConfirmed">;

/** In a checkout that lets payers log out, they become the customer of whatever address they type. */
export async function isOwnCustomer(
  provider: ConnectedProvider,
  ask: SendRequest,
  person: Person,
  customerId: string,
): Promise<boolean> {
  const path = `/customers/${pathSegment(provider, customerId)}`;
  return isOwn(person, valueAt(await ask(get(provider, path)), "data"));
}

function isOwn(person: Person, customer: unknown): boolean {
  return (
    textAt(customer, "custom_data", "userId") === person.userId ||
    hasConfirmed(person, textAt(customer, "email"))
  );
}
