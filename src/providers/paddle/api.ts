import type {
  CheckoutEnd,
  CheckoutOrder,
  ListedEvent,
  OpenedCheckout,
  PayingCustomer,
  PaymentApi,
} from "../../domain/payment-api.ts";
import { type ConnectedProvider, connectProvider } from "../outbound/connected-provider.ts";
import { eachState } from "../outbound/list-states.ts";
import { ensureEnded, hasEnded, nullIfNotFound, pathSegment } from "../outbound/null-if-not-found.ts";
import { listedEvent, MAX_PAGE_BYTES, oldestFirst } from "../outbound/oldest-first.ts";
import { foreignCustomer, hasConfirmed } from "../outbound/own-customer.ts";
import { problem } from "../outbound/problems.ts";
import { resolveCustomerId } from "../outbound/resolve-customer-id.ts";
import { listAt, requiredText, requiredUrl, textAt, valueAt } from "../outbound/response-fields.ts";
import { beginCall, type SendRequest } from "../outbound/send-request.ts";
import { subscriptionState } from "../outbound/subscription-state.ts";
import type { PaymentConnection } from "../payment-connection.ts";
import { changeSubscription, previewChange } from "./change-subscription.ts";
import { findSubscriptions, subscriptionPage } from "./list-subscriptions.ts";
import { get, patch, post, readPaddleError } from "./requests.ts";
import { PADDLE_TRAITS } from "./traits.ts";
import { PADDLE_EVENT_TYPES, paddle } from "./webhook.ts";

const PAGE_SIZE = 100;

/** Plain requests: the SDK supports neither a time-out nor disabling redirects. */
export function paddleApi(connection: PaymentConnection): PaymentApi {
  const provider = connectProvider(connection, PADDLE_TRAITS, readPaddleError);
  const begin = () => beginCall(provider);
  return {
    traits: provider.traits,
    createCheckout: (order) => createCheckout(provider, begin(), order),
    closeCheckout: ({ id }) => closeCheckout(provider, begin(), id),
    updateCheckout: (id, order) => updateCheckout(provider, begin(), id, order),
    openPortal: (customer) => openPortal(provider, begin(), customer),
    fetchSubscription: (id) => fetchSubscription(provider, begin(), id),
    cancelSubscription: (id) => {
      const ask = begin();
      return ensureEnded(
        () => cancel(provider, ask, id),
        () => fetchSubscription(provider, ask, id),
        hasEnded,
      );
    },
    changeSubscription: (id, change) => changeSubscription(provider, begin(), id, change),
    previewChange: (id, change) => previewChange(provider, begin(), id, change),
    refundSubscription: (id) => refundSubscription(provider, begin(), id),
    knowsPrice: (id) => knowsPrice(provider, begin(), id),
    listEvents: (since) => oldestFirst(provider, eventPages(provider, since)),
    isEndpointDisabled: null,
    listSubscriptions: () =>
      eachState((position) => subscriptionPage(provider, position, { withEmails: false })),
    listSubscriptionPage: (position, options) => subscriptionPage(provider, position, options),
    listCustomerPage: null,
    findSubscriptions: (customer) => findSubscriptions(provider, customer),
  };
}

/** The return URL is up to the page behind the default payment link, which runs Paddle's script. */
async function createCheckout(
  provider: ConnectedProvider,
  ask: SendRequest,
  order: CheckoutOrder,
): Promise<OpenedCheckout> {
  const customerId =
    order.customerId !== null && (await isOwnCustomer(provider, ask, order, order.customerId))
      ? order.customerId
      : await customerOf(provider, ask, order);
  const transaction = { ...contentsOf(order), customer_id: customerId, collection_mode: "automatic" };
  return openedCheckout(
    provider,
    await ask(post(provider, "/transactions", transaction, { repeatable: false })),
  );
}

async function updateCheckout(
  provider: ConnectedProvider,
  ask: SendRequest,
  id: string,
  order: CheckoutOrder,
): Promise<OpenedCheckout> {
  const path = `/transactions/${pathSegment(provider, id)}`;
  return openedCheckout(provider, await ask(patch(provider, path, contentsOf(order))));
}

function contentsOf(order: CheckoutOrder): object {
  return {
    items: [{ price_id: order.priceId, quantity: order.seats }],
    // The resulting subscription inherits them.
    custom_data: { userId: order.userId, planId: order.planId },
  };
}

function openedCheckout(provider: ConnectedProvider, response: unknown): OpenedCheckout {
  if (valueAt(response, "data", "checkout", "url") === null)
    throw problem(provider, "rejected", "the transaction has no checkout URL", {
      remedy: "Set the default payment link in Paddle (Checkout, Checkout settings).",
    });
  return {
    id: requiredText(provider, response, "data", "id"),
    url: requiredUrl(provider, response, "data", "checkout", "url"),
    expiresAt: null,
  };
}

const PAID = new Set(["paid", "completed", "billed", "past_due"]);

/** A ready transaction is canceled; a draft, whose customer has given no address yet, cannot be. */
async function closeCheckout(
  provider: ConnectedProvider,
  ask: SendRequest,
  id: string,
): Promise<CheckoutEnd> {
  const path = `/transactions/${pathSegment(provider, id)}`;
  try {
    await ask(patch(provider, path, { status: "canceled" }));
    return { status: "closed" };
  } catch (refused) {
    const known = await nullIfNotFound(async () => ask(get(provider, path)));
    const status = textAt(known, "data", "status");
    if (known === null || status === "canceled") return { status: "closed" };
    if (status === "draft") return { status: "open" };
    if (status === null || !PAID.has(status)) throw refused;
    return { status: "paid", providerSubscriptionId: textAt(known, "data", "subscription_id") };
  }
}

/**
 * A transaction needs a customer, not an address; there is one customer per address, whose portal shows everything
 * bought with it. So an address that anybody may have typed in only matches a customer created for the same person.
 */
async function customerOf(
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
async function isOwnCustomer(
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

async function openPortal(
  provider: ConnectedProvider,
  ask: SendRequest,
  customer: PayingCustomer,
): Promise<{ url: string }> {
  const look = (id: string) => fetchSubscription(provider, ask, id);
  const customerId = await resolveCustomerId(provider, customer, look);
  if (!(await isOwnCustomer(provider, ask, customer, customerId))) throw foreignCustomer(provider);
  const path = `/customers/${pathSegment(provider, customerId)}/portal-sessions`;
  const answer = await ask(post(provider, path, {}, { repeatable: true }));
  return { url: requiredUrl(provider, answer, "data", "urls", "general", "overview") };
}

async function fetchSubscription(provider: ConnectedProvider, ask: SendRequest, id: string) {
  const answer = await nullIfNotFound(async () =>
    ask(get(provider, `/subscriptions/${pathSegment(provider, id)}`)),
  );
  return answer && subscriptionState(provider, paddle, { data: valueAt(answer, "data") });
}

async function refundSubscription(
  provider: ConnectedProvider,
  ask: SendRequest,
  id: string,
): Promise<boolean> {
  const query = new URLSearchParams({
    subscription_id: pathSegment(provider, id),
    status: "completed",
    order_by: "created_at[DESC]",
    per_page: "1",
  });
  const [last] = listAt(await ask(get(provider, `/transactions?${query}`)), "data");
  if (last === undefined) return false;
  const refund = {
    action: "refund",
    type: "full",
    transaction_id: requiredText(provider, last, "id"),
    reason: "The account was deleted before the payment.",
  };
  await ask(post(provider, "/adjustments", refund, { repeatable: false }));
  return true;
}

async function knowsPrice(provider: ConnectedProvider, ask: SendRequest, id: string): Promise<boolean> {
  const price = await nullIfNotFound(async () => ask(get(provider, `/prices/${pathSegment(provider, id)}`)));
  return price !== null && valueAt(price, "data", "status") !== "archived";
}

async function cancel(provider: ConnectedProvider, ask: SendRequest, id: string): Promise<void> {
  const path = `/subscriptions/${pathSegment(provider, id)}/cancel`;
  await ask(post(provider, path, { effective_from: "immediately" }, { repeatable: true }));
}

/** Newest first until they are too old; only this order can stop early. */
async function* eventPages(provider: ConnectedProvider, since: Date): AsyncGenerator<ListedEvent[]> {
  const query = new URLSearchParams({
    order_by: "id[DESC]",
    per_page: String(PAGE_SIZE),
    event_type: PADDLE_EVENT_TYPES.join(","),
  });
  for (;;) {
    const ask = beginCall(provider, { maxBytes: MAX_PAGE_BYTES });
    const page = await ask(get(provider, `/events?${query}`));
    const events = listAt(page, "data");
    const wanted = events.filter(
      (event) => Date.parse(textAt(event, "occurred_at") ?? "") >= since.getTime(),
    );
    yield wanted
      .filter((event) => PADDLE_EVENT_TYPES.includes(textAt(event, "event_type") ?? ""))
      .map((event) =>
        listedEvent(
          requiredText(provider, event, "event_id"),
          requiredText(provider, event, "event_type"),
          event,
        ),
      );
    const last = textAt(events.at(-1), "event_id");
    if (last === null || wanted.length < events.length) return;
    if (valueAt(page, "meta", "pagination", "has_more") !== true) return;
    // The page's `next` is a full URL: only its cursor is used, so that the key is sent only to the configured API.
    query.set("after", last);
  }
}
