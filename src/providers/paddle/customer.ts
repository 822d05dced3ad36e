import type { CheckoutOrder, PayingCustomer } from "../../domain/providers/payment-api.ts";
import { isPaymentApiProblem } from "../../domain/providers/payment-api-problem.ts";
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
  const own = customerId === null ? null : await fetchOwn(provider, send, order, customerId);
  return own === null ? ensureCustomer(provider, send, order) : sellTo(provider, send, order, own);
}

/**
 * A transaction needs a customer, not an address; there is one customer per address, whose portal shows
 * everything bought with it. So an address that anybody may have typed in only matches a customer created for
 * the same person.
 */
async function ensureCustomer(
  provider: ConnectedProvider,
  send: SendRequest,
  order: CheckoutOrder,
): Promise<string> {
  const { email, userId } = order;
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
  if (isOwn(order, existing)) return sellTo(provider, send, order, existing);
  throw problem(
    provider,
    "taken",
    "a customer has this address already, and the person has not confirmed it",
  );
}

type Person = Pick<PayingCustomer, "userId" | "email" | "isEmailConfirmed">;

/**
 * Whether the customer, whose portal is to be opened, is the person's: in a checkout that lets payers log out, they become
 * the customer of whatever address they type.
 */
export async function isOwnCustomer(
  provider: ConnectedProvider,
  send: SendRequest,
  person: Person,
  customerId: string,
): Promise<boolean> {
  const customer = await fetchOwn(provider, send, person, customerId);
  if (customer === null) return false;
  await update(provider, send, customer, ownerOf(person, customer)).catch((error) => {
    // The portal opens without it, and somebody who needs it may have a card to replace.
    if (!isPaymentApiProblem(error)) throw error;
    const facts = { slot: provider.slot, userId: person.userId, reason: error.message };
    provider.log?.warn(
      facts,
      "the person's id could not be written into their customer: after a change of address, the portal may be refused",
    );
  });
  return true;
}

/** `null`: it is somebody else's. */
async function fetchOwn(
  provider: ConnectedProvider,
  send: SendRequest,
  person: Person,
  customerId: string,
): Promise<unknown> {
  const path = `/customers/${pathSegment(provider, customerId)}`;
  const customer = valueAt(await send(get(provider, path)), "data");
  return isOwn(person, customer) ? customer : null;
}

/** Makes sure that it can buy: an archived one can not, and keeps its address from any other. */
function sellTo(
  provider: ConnectedProvider,
  send: SendRequest,
  person: Person,
  customer: unknown,
): Promise<string> {
  const activated = textAt(customer, "status") === "archived" ? { status: "active" } : {};
  return update(provider, send, customer, { ...activated, ...ownerOf(person, customer) });
}

/** Written into a customer that names nobody, so that it stays the person's when they change their address. */
function ownerOf({ userId }: Person, customer: unknown): object {
  const customData = valueAt(customer, "custom_data");
  return textAt(customData, "userId") === null ? { custom_data: { ...Object(customData), userId } } : {};
}

async function update(
  provider: ConnectedProvider,
  send: SendRequest,
  customer: unknown,
  changes: object,
): Promise<string> {
  const id = requiredText(provider, customer, "id");
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
