import { getLocale } from "next-intl/server";
import { cache } from "react";
import type { z } from "zod";
import { listPlans } from "../../../operations/plans/list-plans.ts";
import { read } from "../../gate/read.ts";
import { access, accessBy } from "../access.ts";

export type Plan = z.output<typeof listPlans.output>["items"][number];

/** All plans, retired ones too, in the page's language. */
export const plans = cache(async (): Promise<Plan[]> => {
  const { items } = await read(listPlans, { limit: 100, locale: await getLocale() });
  return items;
});

export type Price = Plan["price"];

/** All plans as the provider of a running subscription sells them: to others it cannot be changed. */
export async function plansSoldTo(subscriptionId: string): Promise<Plan[]> {
  const sold = (await accessBy(subscriptionId))?.sold ?? [];
  const isSold = (plan: Plan, { interval, currency }: Price) =>
    sold.some((one) => one.planId === plan.id && one.interval === interval && one.currency === currency);
  return (await plans()).map((plan) => {
    const prices = plan.prices.filter((price) => isSold(plan, price));
    const [price = plan.price] = prices;
    return { ...plan, price, prices, isForSale: plan.isForSale && (price.amount === 0 || prices.length > 0) };
  });
}

/** What a single payment bought, which neither renews nor changes: owned, or why it was taken back. */
export async function oneTimeState(
  subscriptionId: string,
): Promise<"owned" | "refunded" | "disputed" | null> {
  const item = await accessBy(subscriptionId);
  if (!item?.isOneTime) return null;
  return item.reason === "refunded" || item.reason === "disputed" ? item.reason : "owned";
}

/** The ids of the plans that single payments bought. */
export async function ownedPlans(): Promise<ReadonlySet<string>> {
  const owned = (await access()).filter((item) => item.isOneTime && item.hasAccess);
  return new Set(owned.map(({ planId }) => planId));
}

/** Without purchases that were taken back: they stay active, and give nothing. */
export async function withoutTakenBack<Running extends { id: string }>(
  running: readonly Running[],
): Promise<Running[]> {
  const states = await Promise.all(running.map(({ id }) => oneTimeState(id)));
  return running.filter((_, index) => states[index] === null || states[index] === "owned");
}

/** Those that renew. */
export async function renewingOf<Running extends { id: string }>(
  running: readonly Running[],
): Promise<Running[]> {
  const states = await Promise.all(running.map(({ id }) => oneTimeState(id)));
  return running.filter((_, index) => states[index] === null);
}

/** `undefined`: no longer in the file, or only at the provider. */
export async function planOf(planId: string): Promise<Plan | undefined> {
  return (await plans()).find((plan) => plan.id === planId);
}

/** The plan's name; its id when it is no longer in the file. */
export async function planName(planId: unknown): Promise<string> {
  return (await planOf(String(planId)))?.name ?? String(planId);
}
