import type { PayingCustomer } from "../../domain/providers/payment-api.ts";
import type { ConnectedProvider } from "../outbound/connected-provider.ts";
import { foreignCustomer, hasConfirmed } from "../outbound/own-customer.ts";
import { pathSegment } from "../outbound/path-segment.ts";
import { problem } from "../outbound/problems.ts";
import { listAt, requiredUrl, textAt } from "../outbound/response-fields.ts";
import type { SendRequest } from "../outbound/send-request.ts";
import { request } from "./requests.ts";

/**
 * The portal's links are in the subscription and in the customer, signed for a day. A checkout makes its
 * payer the customer of whatever address is typed in.
 */
export async function openPortal(
  provider: ConnectedProvider,
  send: SendRequest,
  customer: PayingCustomer,
): Promise<{ url: string }> {
  const { providerSubscriptionId, customerId } = customer;
  if (providerSubscriptionId === null && customerId === null)
    throw problem(provider, "missing", "the person is not known as a customer");
  const path =
    customerId === null
      ? `/v1/subscriptions/${pathSegment(provider, providerSubscriptionId ?? "")}`
      : `/v1/customers/${pathSegment(provider, customerId)}`;
  const response = await send(request(provider, "GET", path));
  const address =
    textAt(response, "data", "attributes", "user_email") ?? textAt(response, "data", "attributes", "email");
  if (!hasConfirmed(customer, address) && !(await hasBoughtAll(provider, send, customer, address)))
    throw foreignCustomer(provider);
  return { url: requiredUrl(provider, response, "data", "attributes", "urls", "customer_portal") };
}

const PURCHASES_LIMIT = 100;

/** Whether everything that was bought with the address belongs to the person's own subscriptions. */
async function hasBoughtAll(
  provider: ConnectedProvider,
  send: SendRequest,
  { ownSubscriptionIds }: PayingCustomer,
  address: string | null,
): Promise<boolean> {
  if (address === null) return false;
  const query = new URLSearchParams({
    "filter[user_email]": address,
    "page[size]": String(PURCHASES_LIMIT),
  });
  const listed = async (path: string) =>
    listAt(await send(request(provider, "GET", `${path}?${query}`)), "data");
  const [subscriptions, orders] = await Promise.all([listed("/v1/subscriptions"), listed("/v1/orders")]);
  if (Math.max(subscriptions.length, orders.length) >= PURCHASES_LIMIT) return false;
  const ownIds = new Set(ownSubscriptionIds);
  const ownOrders = new Set(
    subscriptions.map((subscription) => textAt(subscription, "attributes", "order_id")),
  );
  return (
    subscriptions.every((subscription) => ownIds.has(textAt(subscription, "id") ?? "")) &&
    orders.every((order) => ownOrders.has(textAt(order, "id")))
  );
}
