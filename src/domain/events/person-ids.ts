import type { Slot } from "../slot.ts";
import type { PaymentEvent } from "./payment-event.ts";

/** An id assigned by a payment provider. */
export type IdAtProvider = { provider: Slot; id: string };

/**
 * The ids that identify one person's deliveries. The customers are theirs alone: nobody else pays through
 * them.
 */
export type PersonIds = {
  userId: string;
  /** Also their payments that were refunded or disputed, or bought something alone. */
  subscriptions: readonly IdAtProvider[];
  customers: readonly IdAtProvider[];
};

export type ParsedDelivery = {
  provider: Slot;
  /** `null`: unreadable. */
  event: PaymentEvent | null;
  body: unknown;
};

/**
 * Whether a delivery is about the person. One that names another user is theirs even if both share a
 * customer: a deletion must not cost somebody else an event that is still to be applied.
 */
export function isAbout(ids: PersonIds, { provider, event, body }: ParsedDelivery): boolean {
  const subscriptions = idsIn(ids.subscriptions, provider);
  const customers = idsIn(ids.customers, provider);
  if (subscriptions.has(event?.providerSubscriptionId ?? "")) return true;
  if (event !== null && event.userId !== null) return event.userId === ids.userId;
  if (customers.has(event?.customerId ?? "")) return true;
  return scalarsOf(body).some(
    ({ path, value }) =>
      value === ids.userId ||
      ((subscriptions.has(value) || customers.has(value)) && (isDistinctive(value) || LINKING.test(path))),
  );
}

/** The person's customer ids, from a delivery that names them. */
export function customersIn(
  { userId }: Pick<PersonIds, "userId">,
  { provider, body }: ParsedDelivery,
): IdAtProvider[] {
  const scalars = scalarsOf(body);
  if (!scalars.some(({ value }) => value === userId)) return [];
  const ids = scalars.filter(({ path }) => CUSTOMER.test(path)).map(({ value }) => value);
  return [...new Set(ids)].map((id) => ({ provider, id }));
}

const CUSTOMER = /(^|\.)customer(_id|\.id)?$/;
const LINKING = /(^|\.)(customer|subscription)(_id|\.id)?$/;

/** A plain number may mean anything: it counts only in a customer or subscription field. */
function isDistinctive(id: string): boolean {
  return !/^\d*$/.test(id);
}

function idsIn(ids: readonly IdAtProvider[], provider: Slot): ReadonlySet<string> {
  return new Set(ids.filter((id) => id.provider === provider).map(({ id }) => id));
}

/** The end of the path, which `CUSTOMER` and `LINKING` match. */
type Scalar = { path: string; value: string };

/** Longer than what is matched. Buyers can choose names: a whole path for each field could exhaust the memory. */
const MAX_PATH_LENGTH = 64;

/** Every string and number with its path; list members have the list's path. */
function scalarsOf(body: unknown): Scalar[] {
  const scalars: Scalar[] = [];
  const open: { path: string; value: unknown }[] = [{ path: "", value: body }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { path, value } = next;
    if (typeof value === "string" || typeof value === "number") {
      scalars.push({ path, value: String(value) });
    } else if (Array.isArray(value)) {
      for (const member of value) open.push({ path, value: member });
    } else if (typeof value === "object" && value !== null) {
      for (const [key, member] of Object.entries(value))
        open.push({ path: `${path}.${key}`.slice(-MAX_PATH_LENGTH), value: member });
    }
  }
  return scalars;
}
