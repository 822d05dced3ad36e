import type { WireFormat } from "../../src/providers/adapter.ts";
import { fixtureDelivery } from "../fixtures/fixture.ts";
import { SECRETS } from "./variables.ts";

/** Event `n` of a run: it alone creates subscription `n`, with seats by which it is known again. */
export function numberedEvent(run: string, n: number, users = 20, format: WireFormat = "stripe") {
  return fixtureDelivery(format, "customer.subscription.created", {
    secret: SECRETS["provider-a"],
    nowSeconds: Math.floor(Date.now() / 1000),
    eventId: `${run}-${n}`,
    subscriptionId: `${run}-${n}`,
    customerId: `${run}-${n}`,
    userId: `user_${n % users}`,
    planId: "team",
    priceId: "price_team_monthly",
    seats: seatsOf(n),
    status: "active",
  });
}

export function seatsOf(n: number): number {
  return 5 + (n % 400);
}
