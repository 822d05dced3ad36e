import type { CheckoutOrder, PayingCustomer } from "../../domain/payment-api.ts";
import type { ConnectedProvider } from "../outbound/connected-provider.ts";
import { hasConfirmed } from "../outbound/own-customer.ts";
import { pathSegment } from "../outbound/path-segment.ts";
import { problem } from "../outbound/problems.ts";
import { listAt, requiredText, textAt, valueAt } from "../outbound/response-fields.ts";
import type { SendRequest } from "../outbound/send-request.ts";
import { get, post } from "./requests.ts";

/**
 * A transaction needs a customer, not an address; there is one customer per address, whose portal shows
 * everything bought with it. So an address that anybody may have typed in only matches a customer created for
 * the same person.
 */
export async function ensureCustomer(
  provider: ConnectedProvider,
  send: SendRequest,
  { email, isEmailConfirmed, userId }: CheckoutOrder,
): Promise<string> {
  const [existing] = listAt(
    await send(get(provider, `/customers?${new URLSearchParams({ email })}`)),
    "data",
  );
  if (existing === undefined) {
    const customer = { email, custom_data: { userId } };
    // Without a response it may have been made, and would be refused as a second one: the next order finds it.
    const created = await send(post(provider, "/customers", customer, { repeatable: false }));
    return requiredText(provider, created, "data", "id");
  }
  if (isOwn({ userId, email, isEmailConfirmed }, existing)) return requiredText(provider, existing, "id");
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
  send: SendRequest,
  person: Person,
  customerId: string,
): Promise<boolean> {
  const path = `/customers/${pathSegment(provider, customerId)}`;
  return isOwn(person, valueAt(await send(get(provider, path)), "data"));
}

function isOwn(person: Person, customer: unknown): boolean {
  return (
    textAt(customer, "custom_data", "userId") === person.userId ||
    hasConfirmed(person, textAt(customer, "email"))
  );
}
