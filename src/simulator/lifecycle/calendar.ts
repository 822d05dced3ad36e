import type { Offer } from "../lifecycle/offer.ts";

export const DAY_SECONDS = 86_400;

/**
 * Adds intervals to an instant; a month that is too short ends on its last day, without affecting later ones.
 */
export function intervalsAfter(anchorSeconds: number, count: number, interval: Offer["interval"]): number {
  const anchor = new Date(anchorSeconds * 1_000);
  const months = anchor.getUTCMonth() + count * (interval === "year" ? 12 : 1);
  const lastDay = new Date(Date.UTC(anchor.getUTCFullYear(), months + 1, 0)).getUTCDate();
  const day = Math.min(anchor.getUTCDate(), lastDay);
  const midnight = Date.UTC(anchor.getUTCFullYear(), months, day);
  return (midnight + (anchor.getTime() % 86_400_000)) / 1_000;
}
