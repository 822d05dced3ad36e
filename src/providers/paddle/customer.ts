import type { CheckoutOrder, PayingCustomer } from "../../domain/payment-api.ts";
import type { ConnectedProvider } from "../outbound/connected-provider.ts";
import { hasConfirmed } from "../outbound/own-customer.ts";
import { pathSegment } from "../outbound/path-segment.ts";
import { problem } from "../outbound/problems.ts";
import { listAt, requiredText, textAt, valueAt } from "../outbound/response-fields.ts";
import type { SendRequest } from "../outbound/send-request.ts";
import { get, patch, post } from "./requests.ts";

/** The customer to sell to: the stored one if it is the person's own. @throws PaymentApiProblem */
export async function customerFor(
  provider: ConnectedProvider,
  send: SendRequest,
  order: CheckoutOrder,
): Promise<string> {
  const { customerId } = order;
  const own = customerId === null ? null : await ownCustomer(provider, send, order, customerId);
  return own ?? ensureCustomer(provider, send, order);
}

/**
 * A transaction needs a customer, not an address; there is one customer per address, whose portal shows
 * everything bought with it. So an address that anybody may have typed in only matches a customer created for
 * the same person.
 */
async function ensureCustomer(
  provider: ConnectedProvider,
  send: SendRequest,
  { email, isEmailConfirmed, userId }: CheckoutOrder,
): Promise<string> {
  const [existing] = listAt(
    await send(get(provider, `/customers?${new URLSearchParams({ email, status: "active,archived" })}`)),
    "data",
  );
  if (existing === undefined) {
    const customer = { email, custom_data: { userId } };
    // Without a response it may have been made, and would be refused as a second one: the next order finds it.
    const created = await send(post(provider, "/customers", customer, { repeatable: false }));
    return requiredText(provider, created, "data", "id");
  }
  if (isOwn({ userId, email, isEmailConfirmed }, existing)) return claim(provider, send, userId, existing);
  throw problem(
    provider,
    "taken",
    "a customer has this address already, and the person has not confirmed it",
  );
}

type Person = Pick<PayingCustomer, "userId" | "email" | "isEmailConfirmed">;

/**
 * The customer's id if it is the person's, else `null`: in a checkout that lets payers log out, they become the customer
 * of whatever address they type.
 */
export async function ownCustomer(
  provider: ConnectedProvider,
  send: SendRequest,
  person: Person,
  customerId: string,
): Promise<string | null> {
  const path = `/customers/${pathSegment(provider, customerId)}`;
  const customer = valueAt(await send(get(provider, path)), "data");
  return isOwn(person, customer) ? claim(provider, send, person.userId, customer) : null;
}

/**
 * Makes sure that it stays the person's when they change their address, and that it can buy: an archived one can
 * not, and keeps its address from any other.
 */
async function claim(
  provider: ConnectedProvider,
  send: SendRequest,
  userId: string,
  customer: unknown,
): Promise<string> {
  const id = requiredText(provider, customer, "id");
  const customData = valueAt(customer, "custom_data");
  const changes = {
    ...(textAt(customer, "status") === "archived" ? { status: "active" } : {}),
    ...(textAt(customData, "userId") === null ? { custom_data: { ...Object(customData), userId } } : {}),
  };
  if (Object.keys(changes).length > 0)
    await send(patch(provider, `/customers/${pathSegment(provider, id)}`, changes));
  return id;
}

function isOwn(person: Person, customer: unknown): boolean {
  return (
    textAt(customer, "custom_data", "userId") === person.userId ||
    hasConfirmed(person, textAt(customer, "email"))
  );
}
