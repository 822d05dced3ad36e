import type { Dice } from "./dice.ts";

/** A plan under the name by which the slot's provider sells it. */
export type Offer = {
  planId: string;
  priceId: string;
  planName: string;
  /** Per seat and interval, in the currency's smallest unit. */
  amount: number;
  /** ISO 4217, upper case. */
  currency: string;
  interval: "month" | "year";
  seats: { min: number; max: number };
};

export type Happening =
  | "checkout completed"
  | "created"
  | "trial ended"
  | "seats changed"
  | "plan changed"
  | "renewed"
  | "payment failed"
  | "payment recovered"
  | "cancellation scheduled"
  | "cancellation withdrawn"
  | "deleted";

/** Where a subscription stands once something has happened to it. */
export type Standing = {
  offer: Offer;
  seats: number;
  status: "trialing" | "active" | "past_due" | "canceled";
  cancelAtPeriodEnd: boolean;
  periodStartSeconds: number;
  periodEndSeconds: number;
};

/** `atSeconds` by the provider's clock; each step of a life has a second of its own. */
export type Step = { happening: Happening; atSeconds: number; standing: Standing };

export type Life = { bought: Offer; startedAtSeconds: number; steps: readonly Step[] };

export type StoryOptions = {
  /** How many steps all lives have together. */
  events: number;
  /** What can be bought; at least one. */
  offers: readonly Offer[];
  /** No step lies after it. */
  nowSeconds: number;
};

const HOUR = 3_600;
const DAY = 24 * HOUR;
const PERIOD = 30 * DAY;
const LONGEST_PAUSE = 9 * DAY;
const MOST_STEPS = 12;
const LONGEST_LIFE = MOST_STEPS * PERIOD;

/** Lives of subscriptions: bought, changed, sometimes in arrears, sometimes cancelled. */
export function tellLives(dice: Dice, { events, offers, nowSeconds }: StoryOptions): Life[] {
  const lives: Life[] = [];
  for (let left = events; left > 0; ) {
    const life = tellLife(dice, offers, nowSeconds, Math.min(left, dice.between(3, MOST_STEPS)));
    lives.push(life);
    left -= life.steps.length;
  }
  return lives;
}

function tellLife(dice: Dice, offers: readonly Offer[], nowSeconds: number, mostSteps: number): Life {
  const startedAtSeconds = nowSeconds - LONGEST_LIFE - dice.between(0, 100 * DAY);
  const bought = dice.pick(offers);
  // One step alone is a subscription that was made without a checkout, by hand.
  const hasCheckout = mostSteps > 1;
  const first: Standing = {
    offer: bought,
    seats: dice.between(bought.seats.min, bought.seats.max),
    status: hasCheckout && dice.chance(0.2) ? "trialing" : "active",
    cancelAtPeriodEnd: false,
    ...periodAt(startedAtSeconds, startedAtSeconds),
  };
  const steps: Step[] = [];
  if (hasCheckout) {
    steps.push({ happening: "checkout completed", atSeconds: startedAtSeconds, standing: first });
  }
  steps.push({
    happening: "created",
    atSeconds: startedAtSeconds + dice.between(1, 5),
    standing: first,
  });
  while (steps.length < mostSteps) {
    const last = steps.at(-1) as Step;
    if (last.happening === "deleted") break;
    steps.push(nextStep(dice, offers, startedAtSeconds, last));
  }
  return { bought, startedAtSeconds, steps };
}

function nextStep(dice: Dice, offers: readonly Offer[], startedAtSeconds: number, last: Step): Step {
  const { periodEndSeconds, cancelAtPeriodEnd } = last.standing;
  const later = last.atSeconds + dice.between(HOUR, LONGEST_PAUSE);
  const wish = dice.pick(possibleAfter(last.standing, offers));
  if (cancelAtPeriodEnd && (wish === "deleted" || later >= periodEndSeconds)) {
    const standing = after(dice, "deleted", last.standing, offers);
    return { happening: "deleted", atSeconds: periodEndSeconds, standing };
  }
  const atSeconds = wish === "renewed" ? periodEndSeconds : later;
  const standing = { ...last.standing, ...periodAt(startedAtSeconds, atSeconds) };
  return { happening: wish, atSeconds, standing: after(dice, wish, standing, offers) };
}

/** Listed as often as it is likely. */
function possibleAfter(standing: Standing, offers: readonly Offer[]): Happening[] {
  if (standing.cancelAtPeriodEnd) return ["cancellation withdrawn", "deleted", "deleted"];
  switch (standing.status) {
    case "trialing":
      return ["trial ended"];
    case "past_due":
      return ["payment recovered", "payment recovered", "payment recovered", "deleted"];
    case "active":
      return [
        "seats changed",
        "seats changed",
        "seats changed",
        ...(offers.length > 1 ? (["plan changed", "plan changed"] as const) : []),
        "renewed",
        "payment failed",
        "cancellation scheduled",
      ];
    case "canceled":
      return [];
    default:
      return standing.status satisfies never;
  }
}

function after(dice: Dice, happening: Happening, before: Standing, offers: readonly Offer[]): Standing {
  switch (happening) {
    case "seats changed":
      return { ...before, seats: dice.between(before.offer.seats.min, before.offer.seats.max) };
    case "plan changed": {
      const offer = dice.pick(offers.filter((one) => one.planId !== before.offer.planId));
      return { ...before, offer, seats: dice.between(offer.seats.min, offer.seats.max) };
    }
    case "payment failed":
      return { ...before, status: "past_due" };
    case "trial ended":
    case "payment recovered":
      return { ...before, status: "active" };
    case "cancellation scheduled":
      return { ...before, cancelAtPeriodEnd: true };
    case "cancellation withdrawn":
      return { ...before, cancelAtPeriodEnd: false };
    case "deleted":
      return { ...before, status: "canceled" };
    case "checkout completed":
    case "created":
    case "renewed":
      return before;
    default:
      return happening satisfies never;
  }
}

/** The billing period that an instant lies in, its end excluded. */
function periodAt(startedAtSeconds: number, atSeconds: number) {
  const periods = Math.floor((atSeconds - startedAtSeconds) / PERIOD);
  const periodStartSeconds = startedAtSeconds + periods * PERIOD;
  return { periodStartSeconds, periodEndSeconds: periodStartSeconds + PERIOD };
}
