import type Stripe from "stripe";
import type { CheckoutOrder } from "../../domain/providers/payment-api.ts";
import { isPaymentApiProblem } from "../../domain/providers/payment-api-problem.ts";
import type { ConnectedProvider } from "../outbound/connected-provider.ts";
import { pathSegment } from "../outbound/path-segment.ts";
import { listAt, requiredText, textAt } from "../outbound/response-fields.ts";
import { mapStripeErrors } from "./client.ts";
import { PAGE_SIZE } from "./next-position.ts";

/**
 * The person's customer, created with their id, as the portal shows everything that a customer has bought.
 * `null`: Stripe refuses to create it. Checkout then makes a new one: Stripe never finds customers by
 * address.
 */
export async function customerFor(
  provider: ConnectedProvider,
  client: Stripe,
  order: CheckoutOrder,
): Promise<string | null> {
  if (order.customerId !== null && !(await isForeign(provider, client, order.customerId, order)))
    return order.customerId;
  const { userId, email, idempotencyKey } = order;
  return nullIfRefused(provider, order, async () => {
    const customers = await mapStripeErrors(provider, () =>
      client.customers.list({ email, limit: PAGE_SIZE }),
    );
    const ownCustomer = listAt(customers, "data").find((customer) => ownerOf(customer) === userId);
    if (ownCustomer) return textAt(ownCustomer, "id");
    const customer = { email, metadata: { userId } };
    const options = { idempotencyKey: `${idempotencyKey}-customer` };
    const created = await mapStripeErrors(provider, () => client.customers.create(customer, options));
    return requiredText(provider, created, "id");
  });
}

/** Customers that Checkout has made name no user: each was made for its one payer. */
export async function isForeign(
  provider: ConnectedProvider,
  client: Stripe,
  customerId: string,
  { userId }: Pick<CheckoutOrder, "userId">,
): Promise<boolean> {
  const id = pathSegment(provider, customerId);
  const customer = await nullIfRefused(provider, { userId }, () =>
    mapStripeErrors(provider, () => client.customers.retrieve(id)),
  );
  const owner = ownerOf(customer);
  return owner !== null && owner !== userId;
}

function ownerOf(customer: unknown): string | null {
  return textAt(customer, "metadata", "userId");
}

/** Restricted keys from before this check lack the permission: their checkouts and portals keep working. */
async function nullIfRefused<Result>(
  { slot, log }: ConnectedProvider,
  { userId }: Pick<CheckoutOrder, "userId">,
  call: () => Promise<Result>,
): Promise<Result | null> {
  try {
    return await call();
  } catch (error) {
    if (!isPaymentApiProblem(error) || error.failure === "unreachable") throw error;
    if (error.failure !== "missing")
      log?.warn(
        { slot, userId, reason: error.message },
        "the person's customer could not be looked up or created: Checkout creates one, or nobody checks whose it is",
      );
    return null;
  }
}
