import type { Command } from "../lifecycle/apply-command.ts";
import { seatsWithin } from "../lifecycle/change-items.ts";
import type { Offer } from "../lifecycle/offer.ts";
import { findOffer, type ProviderSlot } from "../server/provider-slot.ts";
import type { SimulatedSubscription } from "../server/state.ts";

/** What a button of the portal orders. Text: why it is refused. */
export function portalCommand(
  slot: ProviderSlot,
  subscription: SimulatedSubscription,
  fields: URLSearchParams,
): Command | string {
  switch (fields.get("action")) {
    case "seats":
      if (hasFixedSeats(slot, subscription)) return "Seats cannot be changed during a trial.";
      return itemChange(slot, subscription, {
        offer: subscription.state.offer,
        seats: Number(fields.get("seats") || Number.NaN),
      });
    case "plan": {
      const offer = findOffer(slot, fields.get("price") ?? "");
      if (!offer) return "This plan is not sold.";
      const seats = seatsWithin(offer, subscription.state.seats);
      if (seats !== subscription.state.seats && hasFixedSeats(slot, subscription))
        return `${offer.planName} has other seats, which cannot be changed during a trial.`;
      return itemChange(slot, subscription, { offer, seats });
    }
    case "cancel_at_period_end":
      return { to: "cancel at period end" };
    case "cancel_now":
      return { to: "cancel now" };
    case "resume":
      return { to: "resume" };
    case "pause":
      return { to: "pause" };
    case "end_pause":
      return { to: "end the pause" };
    case "pay_owed":
      return { to: "pay what is owed" };
    case "fail_renewal":
      return { to: "fail the next renewal" };
    case "allow_renewal":
      return { to: "let the next renewal succeed" };
    default:
      return "Choose one of the buttons.";
  }
}

/** Another interval begins a new period, which every provider charges at once. */
function itemChange(
  { traits }: ProviderSlot,
  { state }: SimulatedSubscription,
  { offer, seats }: { offer: Offer; seats: number },
): Command {
  const isNewPeriod = offer.interval !== state.offer.interval;
  const billing = isNewPeriod ? "prorated now" : traits.portalBilling;
  return { to: "change items", offer, seats, billing };
}

function hasFixedSeats({ traits }: ProviderSlot, { state }: SimulatedSubscription): boolean {
  return !traits.changesSeatsInTrial && state.status === "trialing";
}
