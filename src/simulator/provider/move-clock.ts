import { cameDue, comesDueAt } from "./account.ts";
import { DUNNING } from "./dunning.ts";
import type { Shop } from "./shop.ts";
import type { Account } from "./state.ts";
import { tell } from "./tell.ts";

export type Clock = {
  nowMs(): number;
  /** Never backwards; what comes due on the way happens. */
  moveTo(ms: number): void;
};

/**
 * Moves the provider's clock forward; what comes due on the way happens in its order, each at its time.
 * @param hand the bare clock, at which nothing happens
 */
export function moveClock(hand: Clock, shops: readonly Shop[], toMs: number): void {
  for (;;) {
    const next = nextDue(shops);
    if (next === null || next.atSeconds * 1_000 > toMs) break;
    hand.moveTo(next.atSeconds * 1_000);
    const { shop, account, atSeconds } = next;
    tell(shop, cameDue(account, DUNNING[shop.state.format], atSeconds));
  }
  hand.moveTo(toMs);
}

/** When something happens by itself the next time, at any of the subscriptions; `null`: never. */
export function nextDueMs(shops: readonly Shop[]): number | null {
  const next = nextDue(shops);
  return next && next.atSeconds * 1_000;
}

function nextDue(shops: readonly Shop[]): { shop: Shop; account: Account; atSeconds: number } | null {
  let next: { shop: Shop; account: Account; atSeconds: number } | null = null;
  for (const shop of shops) {
    for (const account of shop.state.accounts) {
      const atSeconds = comesDueAt(account, DUNNING[shop.state.format]);
      if (atSeconds !== null && (next === null || atSeconds < next.atSeconds))
        next = { shop, account, atSeconds };
    }
  }
  return next;
}
