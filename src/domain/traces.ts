import type { PaymentEvent } from "./payment-event.ts";
import type { Slot } from "./slot.ts";

/** A name that a payment provider has given something. */
export type ProviderName = { provider: Slot; id: string };

/** By what the deliveries of one person are known. The customers are theirs alone: nobody else's pays through them. */
export type Traces = {
  userId: string;
  subscriptions: readonly ProviderName[];
  customers: readonly ProviderName[];
};

export type TracedDelivery = {
  provider: Slot;
  /** `null`: it could not be read. */
  event: PaymentEvent | null;
  body: unknown;
};

/**
 * Whether a delivery is about the person. One that names somebody else is theirs, even when both pay as one customer:
 * a person's leaving must not cost another an event that is still to be applied.
 */
export function isAbout(traces: Traces, { provider, event, body }: TracedDelivery): boolean {
  const subscriptions = idsIn(traces.subscriptions, provider);
  const customers = idsIn(traces.customers, provider);
  if (subscriptions.has(event?.providerSubscriptionId ?? "")) return true;
  if (event !== null && event.userId !== null) return event.userId === traces.userId;
  if (customers.has(event?.customerId ?? "")) return true;
  return scalarsOf(body).some(
    ({ path, value }) =>
      value === traces.userId ||
      ((subscriptions.has(value) || customers.has(value)) && (isTelling(value) || LINKING.test(path))),
  );
}

/** As whom the person has paid, to go by a delivery that names them. */
export function customersIn(traces: Traces, { provider, body }: TracedDelivery): ProviderName[] {
  const scalars = scalarsOf(body);
  if (!scalars.some(({ value }) => value === traces.userId)) return [];
  const ids = scalars.filter(({ path }) => CUSTOMER.test(path)).map(({ value }) => value);
  return [...new Set(ids)].map((id) => ({ provider, id }));
}

const CUSTOMER = /(^|\.)customer(_id|\.id)?$/;
const LINKING = /(^|\.)(customer|subscription)(_id|\.id)?$/;

/** A bare number may stand for anything: it counts only where a customer or a subscription is named. */
function isTelling(id: string): boolean {
  return !/^\d*$/.test(id);
}

function idsIn(names: readonly ProviderName[], provider: Slot): ReadonlySet<string> {
  return new Set(names.filter((name) => name.provider === provider).map(({ id }) => id));
}

type Scalar = { path: string; value: string };

/** Every text and number, with the way to it; members of a list are found where the list is. */
function scalarsOf(body: unknown): Scalar[] {
  const found: Scalar[] = [];
  const open: { path: string; value: unknown }[] = [{ path: "", value: body }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { path, value } = next;
    if (typeof value === "string" || typeof value === "number") {
      found.push({ path, value: String(value) });
    } else if (Array.isArray(value)) {
      for (const member of value) open.push({ path, value: member });
    } else if (typeof value === "object" && value !== null) {
      for (const [key, member] of Object.entries(value)) open.push({ path: `${path}.${key}`, value: member });
    }
  }
  return found;
}
