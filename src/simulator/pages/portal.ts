import { type Context, Hono } from "hono";
import { html } from "hono/html";
import { applyCommand } from "../lifecycle/apply-command.ts";
import { firstOffers } from "../lifecycle/offer.ts";
import { emitEvents } from "../server/emit-events.ts";
import { type PortalVisit, readPortalToken } from "../server/portal-link.ts";
import {
  findCustomer,
  findSubscription,
  nowSeconds,
  type ProviderSlot,
  subscriptionsOfCustomer,
} from "../server/provider-slot.ts";
import type { SimulatedSubscription } from "../server/state.ts";
import { day, money, outlook, perInterval, seatsOf, stateOf } from "./format.ts";
import { type Html, messagePage, page } from "./page.ts";
import { portalCommand } from "./portal-command.ts";

/** The confirmation shown after each button. */
const DONE: Record<string, string> = {
  seats: "The seats are changed.",
  plan: "The plan is changed.",
  cancel_at_period_end: "It ends with the paid period.",
  cancel_now: "It has ended.",
  resume: "It continues.",
  pause: "It is paused.",
  end_pause: "It continues.",
  pay_owed: "What was owed is paid.",
  fail_renewal: "The next renewal will fail.",
  allow_renewal: "The next renewal will succeed.",
};

/** The customer portal: one page with a button per action. */
export function portalPages(slot: ProviderSlot): Hono {
  const app = new Hono();
  app.get("/:token", (c) => {
    const visit = readPortalToken(slot, c.req.param("token"));
    if (visit === null) return c.html(expired(), 404);
    return c.html(portal(slot, visit, { done: DONE[c.req.query("done") ?? ""] ?? null, problem: null }));
  });
  app.post("/:token", async (c) => {
    const visit = readPortalToken(slot, c.req.param("token"));
    if (visit === null) return c.html(expired(), 404);
    const fields = new URLSearchParams(await c.req.text());
    const subscription = findSubscription(slot, fields.get("subscription") ?? "");
    if (subscription?.ids.customerId !== visit.customerId) return c.html(expired(), 404);
    const command = portalCommand(slot, subscription, fields);
    const outcome =
      typeof command === "string" ? command : applyCommand(subscription, command, nowSeconds(slot));
    if (typeof outcome === "string")
      return c.html(portal(slot, visit, { done: null, problem: outcome }), 422);
    emitEvents(slot, outcome);
    return back(c, fields.get("action") ?? "");
  });
  return app;
}

function back(c: Context, action: string): Response {
  return c.redirect(`${new URL(c.req.url).pathname}?done=${encodeURIComponent(action)}`, 303);
}

type PortalMessage = { done: string | null; problem: string | null };

function portal(slot: ProviderSlot, visit: PortalVisit, { done: successText, problem }: PortalMessage): Html {
  const { customerId } = visit;
  const returnUrl = visit.returnUrl ?? slot.returnUrl();
  const subscriptions = subscriptionsOfCustomer(slot, customerId).toReversed();
  return page(
    "Your subscriptions",
    html`<div class="row apart"><h1>Your subscriptions</h1>
${returnUrl ? html`<a class="button" href="${returnUrl}">Go back</a>` : ""}</div>
<p class="soft">${findCustomer(slot, customerId)?.email ?? ""}</p>
${problem ? html`<p class="problem" role="alert">${problem}</p>` : ""}
${successText ? html`<p class="done" role="status">${successText}</p>` : ""}
<div class="stack">${
      subscriptions.length === 0
        ? html`<div class="card"><p>Nothing has been bought yet.</p></div>`
        : subscriptions.map((subscription) => subscriptionCard(slot, subscription))
    }</div>`,
  );
}

function subscriptionCard(slot: ProviderSlot, subscription: SimulatedSubscription): Html {
  const { ids, state, startedAtSeconds } = subscription;
  const { offer, seats } = state;
  const id = ids.subscriptionId;
  return html`<section class="card" aria-labelledby="name-${id}" data-subscription="${id}">
<div class="row apart"><h2 id="name-${id}">${offer.planName}, ${seatsOf(seats)}</h2>${stateOf(state)}</div>
<p>${outlook(state)}</p>
<p class="soft small">${money(offer.amount, offer.currency)} ${perInterval(offer)} · since ${day(startedAtSeconds)} · <code>${id}</code></p>
${state.status === "canceled" ? "" : controls(slot, subscription)}
</section>`;
}

function controls(slot: ProviderSlot, { ids, state, overdue, nextCharge }: SimulatedSubscription): Html {
  const willFail = nextCharge === "fails";
  const { offer, seats, cancelAtPeriodEnd } = state;
  const id = ids.subscriptionId;
  const hidden = html`<input type="hidden" name="subscription" value="${id}">`;
  const otherOffers = firstOffers(slot.offers).filter(({ planId }) => planId !== offer.planId);
  return html`<h3>Change</h3>
<div class="row end">
<form method="post" class="row end">${hidden}
<div><label for="seats-${id}">Seats</label>
<input class="narrow" id="seats-${id}" name="seats" type="number" required min="${offer.seats.min}" max="${offer.seats.max}" value="${seats}"></div>
<button name="action" value="seats">Change seats</button></form>
${otherOffers.map(
  (
    otherOffer,
  ) => html`<form method="post">${hidden}<input type="hidden" name="price" value="${otherOffer.priceId}">
<button name="action" value="plan">Switch to ${otherOffer.planName}</button></form>`,
)}
</div>
<h3>Cancel</h3>
<div class="row">
${
  cancelAtPeriodEnd
    ? button(hidden, "resume", "Resume")
    : button(hidden, "cancel_at_period_end", "Cancel at the end of the period")
}
${button(hidden, "cancel_now", "Cancel now", "bad")}
</div>
<h3>Pause</h3>
<div class="row">
${state.status === "paused" ? button(hidden, "end_pause", "End the pause") : button(hidden, "pause", "Pause now")}
</div>
<h3>Renewals</h3>
<div class="row">
${overdue ? button(hidden, "pay_owed", "Pay what is owed") : ""}
${
  willFail
    ? button(hidden, "allow_renewal", "Let the next renewal succeed")
    : button(hidden, "fail_renewal", "Fail the next renewal")
}
</div>
<p class="help">${willFail ? "The card will be declined at the next renewal." : "The card will be charged at the next renewal."} Move the clock on the simulator's <a href="/">control page</a>.</p>`;
}

function button(hidden: Html, action: string, label: string, tone = ""): Html {
  return html`<form method="post">${hidden}<button class="${tone}" name="action" value="${action}">${label}</button></form>`;
}

function expired(): Html {
  return messagePage("This link has expired", "Open the portal again where you came from.", null);
}
