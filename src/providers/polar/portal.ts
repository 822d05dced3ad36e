import { createCustomerSessions } from "@polar-sh/sdk/2026-10/services/customer_sessions";
import { listOrders } from "@polar-sh/sdk/2026-10/services/orders";
import { listSubscriptions as listAll } from "@polar-sh/sdk/2026-10/services/subscriptions";
import type { PayingCustomer } from "../../domain/providers/payment-api.ts";
import type { ConnectedProvider } from "../outbound/connected-provider.ts";
import { foreignCustomer, hasConfirmed } from "../outbound/own-customer.ts";
import { problem, RefusedByProvider } from "../outbound/problems.ts";
import { listAt, requiredUrl, textAt } from "../outbound/response-fields.ts";
import type { PolarClient } from "./client.ts";

/**
 * By the person's own id: a stored customer id may belong to somebody else whose address was typed in.
 * Customers of seat-based products have members, one of whom is required; the buyer has the customer's
 * external id.
 */
export async function openPortal(
  provider: ConnectedProvider,
  client: PolarClient,
  customer: PayingCustomer,
): Promise<{ url: string }> {
  if (customer.customerId === null && customer.providerSubscriptionId === null)
    throw problem(provider, "missing", "the person is not known as a customer");
  if (!(await isOwnCustomer(client, customer))) throw foreignCustomer(provider);
  const session = { external_customer_id: customer.userId, return_url: customer.returnUrl };
  const response = await createCustomerSessions(client)({
    ...session,
    external_member_id: customer.userId,
  }).catch((error: unknown) => {
    const hasNoMembers = error instanceof RefusedByProvider && error.code?.endsWith("external_member_id");
    if (!hasNoMembers) throw error;
    return createCustomerSessions(client)(session);
  });
  return { url: requiredUrl(provider, response, "customer_portal_url") };
}

const PURCHASES_LIMIT = 100;

/**
 * Polar gives our id to a customer that had none, even if only the payer says that the address is theirs:
 * such a customer has bought more than the person. What our checkouts sold names the person; that alone
 * counts, as events of the customer's other purchases are assigned by the same id.
 */
async function isOwnCustomer(client: PolarClient, customer: PayingCustomer): Promise<boolean> {
  const query = { external_customer_id: customer.userId, limit: PURCHASES_LIMIT };
  const [subscriptions, orders] = await Promise.all([listAll(client)(query), listOrders(client)(query)]);
  const isOwn = (purchase: unknown) => textAt(purchase, "metadata", "userId") === customer.userId;
  const lists = [listAt(subscriptions, "items"), listAt(orders, "items")] as const;
  const hasBoughtAll = lists.every((items) => items.length < PURCHASES_LIMIT && items.every(isOwn));
  return (
    hasBoughtAll ||
    lists.flat().some((purchase) => hasConfirmed(customer, textAt(purchase, "customer", "email")))
  );
}
