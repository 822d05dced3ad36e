import { z } from "zod";

/** Why a provider does not make a change. Only `not_offered` and `in_portal` last. */
const CHANGE_OBSTACLES = {
  not_offered: "The payment provider does not support this change",
  ending: "The subscription is set to end: continue it in the billing portal first",
  trial: "The number of seats cannot be changed during the trial: try again after it",
  seats_outside_current_plan:
    "For the next period, the number of seats must be within the current plan's limits: change now, or change the seats once the new plan has started",
  seats_assigned: "More seats than that are assigned: take some back in the billing portal first",
  scheduled_change:
    "Something else is scheduled for the subscription: withdraw it in the billing portal, or try again after it",
  renewing: "The subscription is about to renew: try again in an hour",
  changed_often: "The subscription has been changed too often: try again tomorrow",
  charge_too_small:
    "The change costs less than the smallest amount that the payment provider charges: order more in one change, or try again after the renewal",
  in_portal:
    "The payment provider makes this change in its billing portal only, as for what is paid through PayPal",
  refund_open: "A refund for the subscription waits for approval: try again once it is decided",
  payment_open: "A payment for the subscription is open: pay it in the billing portal, then try again",
} as const;

export const ChangeObstacle = z.object({
  cause: z.enum(Object.keys(CHANGE_OBSTACLES) as (keyof typeof CHANGE_OBSTACLES)[]),
});

export type ChangeObstacle = z.output<typeof ChangeObstacle>["cause"];

export function obstacleSentence({ cause }: z.output<typeof ChangeObstacle>): string {
  return CHANGE_OBSTACLES[cause];
}
