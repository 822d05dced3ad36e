import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type CheckoutOrder,
  isPaymentApiProblem,
  type OpenedCheckout,
  type PaymentApi,
} from "../../domain/payment-api.ts";
import type { PlanCatalog } from "../../domain/plan.ts";
import { refuse } from "../../domain/refusal.ts";
import type { Slot } from "../../domain/slot.ts";
import {
  acquireCheckoutLease,
  forgetCheckout,
  keepCheckout,
  type WantedCheckout,
} from "../../store/checkouts.ts";
import { customersOfUser } from "../../store/customers.ts";
import type { Queryable } from "../../store/database.ts";
import { mapProviderErrors, type ProviderTools } from "./ask-provider.ts";

/** Longer than any call to a provider takes: whoever holds a turn for longer has died over it. */
const LEASE_SECONDS = 12;
const WAIT_FOR_OTHERS_MS = (LEASE_SECONDS + 3) * 1_000;
const LOOK_EVERY_MS = 100;
export const NO_SUCH_USER = "there is no such user";
/** Some providers do not say for how long a checkout can be paid. */
const KEEP_SECONDS = 60 * 60;

export type BillingTools = ProviderTools & {
  database: Queryable;
  plans: PlanCatalog;
  activeProvider: Slot;
  /** The public origin, without a slash at the end. */
  appUrl: string;
};

type Addressed = Pick<CheckoutOrder, "email" | "isEmailConfirmed">;

/**
 * Where the person can pay. One checkout at a time: whoever wants the same again, or at the same moment, at whichever
 * process, is sent to the same one. No transaction is open while the provider is asked.
 * @throws Refusal `unavailable`; `not_found` when the account is deleted meanwhile
 */
export async function openCheckout(
  deps: BillingTools,
  api: PaymentApi,
  order: WantedCheckout & Addressed,
): Promise<string> {
  const giveUpAt = performance.now() + WAIT_FOR_OTHERS_MS;
  for (;;) {
    const turn = await acquireCheckoutLease(deps.database, order, {
      idempotencyKey: randomUUID(),
      leaseSeconds: LEASE_SECONDS,
      keepSeconds: KEEP_SECONDS,
    });
    switch (turn.outcome) {
      case "open":
        return turn.url;
      case "to open": {
        if (turn.replaced) await closeReplaced(deps, turn.replaced);
        const url = await openAtProvider(deps, api, order, turn.idempotencyKey);
        if (url !== null) return url;
        break;
      }
      case "being opened":
        await sleep(LOOK_EVERY_MS);
        break;
      case "nobody":
        return refuse("not_found", NO_SUCH_USER);
      default:
        return turn satisfies never;
    }
    if (performance.now() >= giveUpAt)
      refuse("unavailable", "A checkout is being opened. Try again in a minute.");
  }
}

/** Left open in another tab, it could be paid as well. What cannot be closed closes by itself, some time. */
async function closeReplaced(
  { payments, log }: BillingTools,
  { provider, id }: { provider: Slot; id: string },
): Promise<void> {
  try {
    await payments[provider]?.closeCheckout(id);
  } catch (error) {
    if (!isPaymentApiProblem(error)) throw error;
    const { failure, message } = error;
    log.error(
      { slot: provider, failure, reason: message },
      "a checkout that was replaced could not be closed",
    );
  }
}

/** `null`: it took too long, and somebody else has taken the turn. */
async function openAtProvider(
  deps: BillingTools,
  api: PaymentApi,
  { provider, ...order }: WantedCheckout & Addressed,
  idempotencyKey: string,
): Promise<string | null> {
  const { database, appUrl } = deps;
  const { userId } = order;
  try {
    const customers = await customersOfUser(database, userId);
    const known = customers.find((one) => one.provider === provider && one.customerId !== null);
    const opening = openFor(api, known?.customerId ?? null, {
      ...order,
      idempotencyKey,
      successUrl: `${appUrl}/billing?checkout=completed`,
      cancelUrl: `${appUrl}/billing?checkout=cancelled`,
    });
    const opened = await mapProviderErrors(deps, { slot: provider, userId }, opening);
    return (await keepCheckout(database, userId, idempotencyKey, opened)) ? opened.url : null;
  } catch (error) {
    // A database that is gone is what the caller is to hear of, not that this could not be tidied up.
    await forgetCheckout(database, userId, idempotencyKey).catch(() => {});
    throw error;
  }
}

/** A customer can be deleted at the provider: who comes back then is a new one. */
async function openFor(
  api: PaymentApi,
  customerId: string | null,
  order: Omit<CheckoutOrder, "customerId">,
): Promise<OpenedCheckout> {
  try {
    return await api.createCheckout({ ...order, customerId });
  } catch (error) {
    if (customerId === null || !isPaymentApiProblem(error) || error.failure !== "missing") throw error;
    // Under a key of its own: the first one's answer is remembered.
    const idempotencyKey = `${order.idempotencyKey}-anew`;
    return api.createCheckout({ ...order, idempotencyKey, customerId: null });
  }
}
