import { ADAPTERS } from "../../providers/formats.ts";
import type { Telling, Told } from "../formats/renderer.ts";
import type { Outcome } from "./account.ts";
import { strike } from "./delivery/faults.ts";
import { portalUrl } from "./portal-link.ts";
import { nowSeconds, type Shop, tickSeconds } from "./shop.ts";
import type { Account, Dispatch } from "./state.ts";

/** Delivered events beyond these are forgotten, the oldest first. */
const KEPT_EVENTS = 500;

/** Writes down what has become of an account, and puts what is told of it on its way. */
export function tell(shop: Shop, { account, told }: Outcome): Account {
  let current = account;
  for (const happening of told) {
    current = happened(shop, current, happening, stamp(shop, current));
    // Its general event tells the same once more, of the same time.
    if (shop.renderer.restates.includes(happening)) {
      current = happened(shop, current, "restated", current.step.atSeconds);
    }
  }
  const { accounts } = shop.state;
  const { subscriptionId } = account.subject;
  const index = accounts.findIndex(({ subject }) => subject.subscriptionId === subscriptionId);
  if (index < 0) accounts.push(current);
  else accounts[index] = current;
  shop.changed();
  return current;
}

function happened(shop: Shop, account: Account, happening: Told, atSeconds: number): Account {
  const next = { ...account, at: account.at + 1, step: { ...account.step, happening, atSeconds } };
  dispatch(shop, next);
  return next;
}

export function tellingOf(shop: Shop, account: Account): Telling {
  const { subject, bought, startedAtSeconds, step, at, checkout } = account;
  return {
    life: { bought, startedAtSeconds },
    step,
    at,
    subject,
    run: shop.state.run,
    checkout: {
      ...checkout,
      portalUrl: portalUrl(shop, { customerId: subject.customerId, returnUrl: null }),
    },
  };
}

function dispatch(shop: Shop, account: Account): void {
  const { events } = shop.state;
  const { eventId, eventType, body } = shop.renderer.render(tellingOf(shop, account));
  const number = (events.at(-1)?.number ?? 0) + 1;
  const rawBody = JSON.stringify(body);
  const madeAtMs = shop.nowMs();
  const event: Dispatch = {
    number,
    eventId: eventId || idReadFrom(rawBody, shop),
    eventType,
    subscriptionId: account.subject.subscriptionId,
    rawBody,
    madeAtMs,
    dueAtMs: madeAtMs,
    status: shop.state.endpoint.isDisabled ? "skipped" : "waiting",
    fault: null,
    damage: null,
    copies: 0,
    isHeldBack: false,
    failures: 0,
    tries: [],
  };
  events.push(strike(event, shop.state, shop.haste));
  forgetOldest(events);
}

/** What a receiver will call an event that has no id of its own. */
function idReadFrom(rawBody: string, { state }: Shop): string {
  const request = { rawBody: Buffer.from(rawBody), header: () => undefined };
  return ADAPTERS[state.format].identify(request, JSON.parse(rawBody)).eventId;
}

// No two events of an account at one instant, where that can be told. Lemon Squeezy's ids are made of what an event says:
// back and forth within a second, it would say the same twice. Stripe's events of one second stay of one second.
function stamp(shop: Shop, { step, at }: Account): number {
  const now = nowSeconds(shop);
  if (at < 0 || shop.state.format === "stripe") return now;
  return Math.max(now, step.atSeconds + tickSeconds(shop));
}

function forgetOldest(events: Dispatch[]): void {
  const surplus = events.length - KEPT_EVENTS;
  const first = surplus > 0 ? events.findIndex(({ status }) => status !== "waiting") : -1;
  if (first >= 0) events.splice(first, 1);
}
