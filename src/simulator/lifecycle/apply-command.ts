import { renew } from "./advance.ts";
import { changeItems, type ItemChange } from "./change-items.ts";
import type { Offer } from "./offer.ts";
import type { BillingState } from "./subscription.ts";
import { changed, type Transition } from "./transition.ts";

export type Command =
  | ({ to: "change items" } & ItemChange)
  | { to: "change at period end"; offer: Offer | null; seats: number | null }
  | { to: "withdraw the scheduled change" }
  | { to: "cancel at period end"; by?: "seller" | "customer" }
  | { to: "cancel now" }
  | { to: "resume" }
  | { to: "pause" }
  | { to: "end the pause" }
  | { to: "pay what is owed" }
  | { to: "fail the next renewal" }
  | { to: "let the next renewal succeed" };

/** A request of the customer or the seller. Text: why it is refused. */
export function applyCommand<Subscription extends BillingState>(
  subscription: Subscription,
  command: Command,
  nowSeconds: number,
): Transition<Subscription> | string {
  const { state } = subscription;
  if (state.status === "canceled") return "This subscription has ended.";
  switch (command.to) {
    case "change items":
      return changeItems(subscription, command, nowSeconds);
    case "change at period end": {
      const scheduled = {
        offer: command.offer ?? subscription.scheduled?.offer ?? null,
        seats: command.seats ?? subscription.scheduled?.seats ?? null,
      };
      return { subscription: { ...subscription, scheduled }, events: ["restated"] };
    }
    case "withdraw the scheduled change":
      return { subscription: { ...subscription, scheduled: null }, events: ["restated"] };
    case "cancel at period end":
      if (state.cancelAtPeriodEnd) return { subscription, events: [] };
      return changed(subscription, "cancellation scheduled", {
        cancelAtPeriodEnd: true,
        canceledBy: command.by ?? "customer",
        canceledAtSeconds: nowSeconds,
      });
    case "cancel now":
      return changed({ ...subscription, overdue: null }, "deleted", { status: "canceled" });
    case "resume":
      if (!state.cancelAtPeriodEnd) return "No cancellation is scheduled.";
      return changed(subscription, "cancellation withdrawn", {
        cancelAtPeriodEnd: false,
        canceledBy: null,
        canceledAtSeconds: null,
      });
    case "pause":
      if (state.status !== "active" || state.cancelAtPeriodEnd)
        return "Only an active subscription that is not canceled can be paused.";
      return changed(subscription, "paused", { status: "paused" });
    case "end the pause":
      if (state.status !== "paused") return "This subscription is not paused.";
      return endPause(subscription, nowSeconds);
    case "pay what is owed":
      if (state.status === "incomplete")
        return changed(subscription, "activated", { status: "active" }, "charged");
      if (subscription.overdue === null) return "Nothing is owed.";
      return changed(
        { ...subscription, overdue: null },
        "payment recovered",
        { status: "active" },
        "charged",
      );
    case "fail the next renewal":
      return { subscription: { ...subscription, nextCharge: "fails" }, events: [] };
    case "let the next renewal succeed":
      return { subscription: { ...subscription, nextCharge: "succeeds" }, events: [] };
    default:
      return command satisfies never;
  }
}

/** What has been paid for is used up; afterwards a new period begins, and is charged. */
function endPause<Subscription extends BillingState>(
  subscription: Subscription,
  nowSeconds: number,
): Transition<Subscription> {
  const { state } = subscription;
  const resumed = changed(subscription, "unpaused", { status: "active" });
  if (state.periodEndSeconds > nowSeconds) return resumed;
  const anchored = {
    ...resumed.subscription,
    anchorSeconds: nowSeconds,
    periods: 0,
    state: { ...resumed.subscription.state, periodEndSeconds: nowSeconds },
  };
  const renewed = renew(anchored, nowSeconds);
  return { subscription: renewed.subscription, events: ["unpaused", ...renewed.events] };
}
