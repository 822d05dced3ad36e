import type { Offer } from "./offer.ts";

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

/**
 * The earliest and the latest time that is a month later. They differ on the last day of a month: a period that
 * began on a later day of an earlier month ends up to three days after the earliest.
 */
export function monthAfter(seconds: number): { earliest: number; latest: number } {
  const earliest = intervalsAfter(seconds, 1, "month");
  const tomorrow = seconds + DAY_SECONDS;
  const isLastDay = new Date(tomorrow * 1_000).getUTCDate() === 1;
  return { earliest, latest: isLastDay ? intervalsAfter(tomorrow, 1, "month") - DAY_SECONDS : earliest };
}
