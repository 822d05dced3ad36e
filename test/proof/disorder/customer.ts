import { setTimeout as sleep } from "node:timers/promises";
import plans from "../../../plans.config.ts";
import type { Slot } from "../../../src/domain/slot.ts";
import { createRng, type Rng } from "../../../src/simulator/scenario/rng.ts";
import { control, order, press } from "../../simulator/test-context.ts";
import type { Shop } from "./shop.ts";
import type { Watch } from "./watch.ts";

const ACTIONS = ["seats", "plan", "cancel_at_period_end", "resume", "cancel_now"] as const;

/** Buys a subscription, changes it up to five times, and has some of its payments refunded or disputed. */
export async function actAsCustomer(shop: Shop, slot: Slot, seed: number, watch: Watch): Promise<void> {
  const { sim, format } = shop;
  const rng = createRng(seed);
  const userId = `user_${seed}`;
  const email = `${userId}@example.com`;
  const checkout = await order(sim.url, format, {
    slot,
    userId,
    email,
    seats: 2,
    priceId: priceOf("pro", slot),
  });
  await press(checkout.url, { email, card: "4242 4242 4242 4242", action: "pay" });
  const find = () => sim.subscriptions(slot).find((subscription) => subscription.userId === userId);
  const id = find()?.providerSubscriptionId;
  if (id === undefined) throw new Error(`seed ${seed}: nothing was bought`);
  const watched = watch.add(slot, id);
  const portal = sim.portalUrl(slot, id);
  for (let actions = rng.between(1, 5); actions > 0; actions -= 1) {
    if (rng.chance(0.5)) await sleep(rng.between(0, 300));
    // Skips a step that is not possible in the current state.
    await press(portal, { subscription: id, ...fieldsOf(rng, slot) });
    if (find()?.status === "canceled") watched.endedAtMs ??= Date.now();
  }
  await reversePayments(shop, slot, id, rng);
  watched.isDone = true;
}

function fieldsOf(rng: Rng, slot: Slot): Record<string, string> {
  const action = rng.pick(ACTIONS);
  if (action === "seats") return { action, seats: String(rng.between(1, 9)) };
  if (action === "plan") return { action, price: priceOf(rng.pick(["pro", "team"]), slot) };
  return { action };
}

function priceOf(planId: string, slot: Slot): string {
  const [priceId] = [plans.plans.find(({ id }) => id === planId)?.priceIds[slot] ?? []].flat();
  if (priceId === undefined) throw new Error(`${planId} is not sold in ${slot}`);
  return priceId;
}

/** Refunds in part, in full, or both, and disputes; Polar has no events for disputes. */
async function reversePayments(
  { sim, format }: Shop,
  slot: Slot,
  subscriptionId: string,
  rng: Rng,
): Promise<void> {
  // What credit has paid for in full cannot be given back.
  const payments = sim
    .payments(slot)
    .filter(({ providerSubscriptionId, amount }) => providerSubscriptionId === subscriptionId && amount > 0);
  for (const { providerPaymentId: payment } of payments) {
    const action = rng.pick(["refund", "dispute", "nothing"] as const);
    if (action === "nothing" || (action === "dispute" && format === "polar")) continue;
    await control(sim.url, `/${slot}/${action}`, { payment, ...(rng.chance(0.5) ? { amount: 100 } : {}) });
    if (rng.chance(0.5)) {
      await control(sim.url, `/${slot}/refund`, { payment, amount: 200 }).catch(ignoreRefundedInFull);
    }
  }
}

function ignoreRefundedInFull(error: unknown): void {
  if (!String(error).includes("422")) throw error;
}
