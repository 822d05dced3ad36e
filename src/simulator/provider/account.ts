import type { Told, ToldStanding } from "../formats/renderer.ts";
import type { Offer } from "../story.ts";
import { DAY_SECONDS, intervalsAfter } from "./calendar.ts";
import type { Dunning } from "./dunning.ts";
import type { Account } from "./state.ts";

export type Wish =
  | { to: "change seats"; seats: number }
  | { to: "change plan"; offer: Offer }
  | { to: "cancel at period end" }
  | { to: "cancel now" }
  | { to: "resume" }
  | { to: "pay what is owed" }
  | { to: "fail the next renewal" }
  | { to: "let the next renewal succeed" };

/** What an account becomes, and what is told of it, in this order. */
export type Outcome = { account: Account; told: readonly Told[] };

/** What the customer or the seller asks for. A text says why it cannot be. */
export function wished(account: Account, wish: Wish): Outcome | string {
  const { standing } = account.step;
  if (standing.status === "canceled") return "This subscription has ended.";
  const owes = account.arrears !== null;
  switch (wish.to) {
    case "change seats": {
      const { min, max } = standing.offer.seats;
      if (!Number.isInteger(wish.seats) || wish.seats < min || wish.seats > max) {
        return `${standing.offer.planName} is sold for ${min} to ${max} seats.`;
      }
      if (wish.seats === standing.seats) return { account, told: [] };
      return changed(account, "seats changed", { seats: wish.seats });
    }
    case "change plan": {
      const { offer } = wish;
      if (offer.priceId === standing.offer.priceId) return { account, told: [] };
      const seats = Math.min(offer.seats.max, Math.max(offer.seats.min, standing.seats));
      return changed(account, "plan changed", { offer, seats });
    }
    case "cancel at period end":
      if (standing.cancelAtPeriodEnd) return { account, told: [] };
      return changed(account, "cancellation scheduled", { cancelAtPeriodEnd: true });
    case "cancel now":
      return changed({ ...account, arrears: null }, "deleted", { status: "canceled" });
    case "resume":
      if (!standing.cancelAtPeriodEnd) return "No cancellation is scheduled.";
      return changed(account, "cancellation withdrawn", { cancelAtPeriodEnd: false });
    case "pay what is owed":
      if (!owes) return "Nothing is owed.";
      return changed({ ...account, arrears: null }, "payment recovered", { status: "active" });
    case "fail the next renewal":
      return { account: { ...account, nextCharge: "fails" }, told: [] };
    case "let the next renewal succeed":
      return { account: { ...account, nextCharge: "succeeds" }, told: [] };
    default:
      return wish satisfies never;
  }
}

/** When something happens to it by itself; `null`: never. */
export function comesDueAt({ step, arrears }: Account, dunning: Dunning): number | null {
  const { status, cancelAtPeriodEnd, periodEndSeconds } = step.standing;
  if (status === "canceled") return null;
  if (arrears === null) return periodEndSeconds;
  const next =
    dunning.retryAfterDays[arrears.tries] ??
    (dunning.retryAfterDays.at(-1) ?? 0) + (dunning.unpaidForDays ?? 0);
  const retryAt = arrears.sinceSeconds + next * DAY_SECONDS;
  return cancelAtPeriodEnd ? Math.min(retryAt, periodEndSeconds) : retryAt;
}

/** What happens at the instant it comes due. */
export function cameDue(account: Account, dunning: Dunning, nowSeconds: number): Outcome {
  const { standing } = account.step;
  if (standing.cancelAtPeriodEnd && nowSeconds >= standing.periodEndSeconds) {
    return changed({ ...account, arrears: null }, "deleted", { status: "canceled" });
  }
  return account.arrears === null
    ? renewed(account, nowSeconds)
    : askedAgain(account, account.arrears, dunning);
}

function renewed(account: Account, nowSeconds: number): Outcome {
  const { standing } = account.step;
  const wasTrial = standing.status === "trialing";
  const anchorSeconds = wasTrial ? standing.periodEndSeconds : account.anchorSeconds;
  const periods = wasTrial ? 1 : account.periods + 1;
  const period = {
    periodStartSeconds: standing.periodEndSeconds,
    periodEndSeconds: intervalsAfter(anchorSeconds, periods, standing.offer.interval),
  };
  const next = { ...account, anchorSeconds, periods };
  if (account.nextCharge === "fails") {
    const arrears = { sinceSeconds: nowSeconds, tries: 0 };
    return changed({ ...next, arrears }, "payment failed", { ...period, status: "past_due" });
  }
  return changed(next, wasTrial ? "trial ended" : "renewed", { ...period, status: "active" }, "charged");
}

function askedAgain(account: Account, arrears: NonNullable<Account["arrears"]>, dunning: Dunning): Outcome {
  const tries = arrears.tries + 1;
  const isGivenUp = arrears.tries >= dunning.retryAfterDays.length;
  if (!isGivenUp && account.nextCharge === "succeeds") {
    return changed({ ...account, arrears: null }, "payment recovered", { status: "active" }, "charged");
  }
  if (tries < dunning.retryAfterDays.length) {
    return { account: { ...account, arrears: { ...arrears, tries } }, told: [] };
  }
  if (!isGivenUp && dunning.unpaidForDays !== null) {
    return changed({ ...account, arrears: { ...arrears, tries } }, "written off", { status: "unpaid" });
  }
  return changed({ ...account, arrears: null }, "deleted", { status: "canceled" });
}

function changed(
  account: Account,
  happening: Told,
  change: Partial<ToldStanding>,
  ...further: readonly Told[]
): Outcome {
  const standing = { ...account.step.standing, ...change };
  return { account: { ...account, step: { ...account.step, standing } }, told: [happening, ...further] };
}
