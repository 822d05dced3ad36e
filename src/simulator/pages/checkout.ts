import { type Context, Hono } from "hono";
import { html } from "hono/html";
import { chargeTotals } from "../lifecycle/charge.ts";
import { checkoutState } from "../server/checkout-price.ts";
import { closeCheckout, expireIfLate } from "../server/open-checkout.ts";
import { payCheckout } from "../server/pay-checkout.ts";
import { findCheckout, type ProviderSlot } from "../server/provider-slot.ts";
import type { Checkout } from "../server/state.ts";
import { money, perInterval, seatsOf } from "./format.ts";
import { type Html, messagePage, page } from "./page.ts";

const PAYING_CARD = "4242424242424242";
const DECLINED_CARD = "4000000000000002";
const TRIAL_DAYS = 14;

type Filled = { email: string; card: string; code: string; wantsTrial: boolean; problem: string | null };

/** The hosted checkout, like https://docs.stripe.com/payments/checkout. */
export function checkoutPages(slot: ProviderSlot): Hono {
  const app = new Hono();
  app.get("/:id", (c) => {
    const checkout = findRequestedCheckout(slot, c);
    if (checkout === null) return c.html(unknown(), 404);
    if (checkout.status !== "open") return c.html(closed(slot, checkout));
    return c.html(
      form(c, checkout, {
        email: checkout.email ?? "",
        card: PAYING_CARD,
        code: "",
        wantsTrial: false,
        problem: null,
      }),
    );
  });
  app.post("/:id", async (c) => {
    const checkout = findRequestedCheckout(slot, c);
    if (checkout === null) return c.html(unknown(), 404);
    const fields = new URLSearchParams(await c.req.text());
    if (fields.get("action") === "cancel") return leave(c, slot, checkout);
    // A second click gets the first one's response.
    if (checkout.status === "complete") return paid(c, slot, checkout);
    if (checkout.status === "expired") return c.html(closed(slot, checkout), 409);
    const filled = {
      email: (fields.get("email") ?? "").trim(),
      card: digits(fields.get("card")),
      code: checkout.allowPromotionCodes ? (fields.get("code") ?? "").trim().slice(0, 100) : "",
      wantsTrial: fields.get("trial") === "on",
    };
    const problem = problemWith(filled, fields.get("action"));
    if (problem !== null) return c.html(form(c, checkout, { ...filled, problem }), 422);
    const trialDays = checkout.trialDays || (filled.wantsTrial ? TRIAL_DAYS : 0);
    const isLoggedOut = fields.get("logout") === "on" && slot.traits.letsPayersLogOut;
    const { email, code } = filled;
    const payment = { email, trialDays, isLoggedOut, code: code || null };
    const result = payCheckout(slot, checkout, payment);
    if (typeof result === "string") return c.html(form(c, checkout, { ...filled, problem: result }), 422);
    return paid(c, slot, checkout);
  });
  return app;
}

function findRequestedCheckout(slot: ProviderSlot, c: Context): Checkout | null {
  const checkout = findCheckout(slot, c.req.param("id") ?? "");
  return checkout && expireIfLate(slot, checkout);
}

function paid(c: Context, slot: ProviderSlot, checkout: Checkout): Response | Promise<Response> {
  const successUrl = returnUrl(slot, checkout, "completed");
  return successUrl === null ? c.html(closed(slot, checkout)) : c.redirect(successUrl, 303);
}

function leave(c: Context, slot: ProviderSlot, checkout: Checkout): Response | Promise<Response> {
  const cancelUrl = returnUrl(slot, checkout, "cancelled");
  if (cancelUrl !== null) return c.redirect(cancelUrl, 303);
  if (checkout.status === "open") closeCheckout(slot, checkout);
  return c.html(messagePage("Nothing was bought", "The checkout is closed; you can close this page.", null));
}

function problemWith({ email, card }: Pick<Filled, "email" | "card">, action: string | null): string | null {
  if (!/^[^\s@]+@[^\s@]+$/.test(email) || email.length > 254)
    return "Enter an email address, such as you@example.com.";
  if (action === "decline" || card === DECLINED_CARD)
    return "The card was declined. Nothing was paid; try again.";
  if (card !== PAYING_CARD) return "Only test cards are taken here: 4242 4242 4242 4242.";
  return action === "pay" ? null : "Choose one of the buttons.";
}

/** Replaces the seller's placeholder by the checkout's id. */
function returnUrl(
  slot: ProviderSlot,
  { id, successUrl, cancelUrl }: Checkout,
  outcome: "completed" | "cancelled",
): string | null {
  const fallback = slot.returnUrl();
  const url =
    (outcome === "completed" ? successUrl : cancelUrl) ?? (fallback && `${fallback}?checkout=${outcome}`);
  return url?.replaceAll(/\{CHECKOUT(?:_SESSION)?_ID\}|%7BCHECKOUT(?:_SESSION)?_ID%7D/g, id) ?? null;
}

function digits(text: string | null): string {
  return (text ?? "").replaceAll(/\D/g, "").slice(0, 19);
}

function form(c: Context, checkout: Checkout, { email, card, code, wantsTrial, problem }: Filled): Html {
  const { offer, seats, trialDays = 0, allowPromotionCodes = null } = checkout;
  const languages = c.req.header("accept-language");
  const { discount, due } = chargeTotals(checkoutState(checkout));
  const total = money(due, offer.currency, languages);
  const price = money(offer.amount, offer.currency, languages);
  const nothing = money(0, offer.currency, languages);
  return page(
    `Buy ${offer.planName}`,
    html`<div class="two">
<section aria-labelledby="what">
<h1 id="what">${offer.planName}</h1>
<p class="price">${total} <span class="soft small">per ${offer.interval}</span></p>
<dl>
<dt>Seats</dt><dd>${seatsOf(seats)}</dd>
<dt>Price</dt><dd>${price} ${perInterval(offer)}</dd>
${discount > 0 ? html`<dt>Discount</dt><dd>${money(-discount, offer.currency, languages)}</dd>` : ""}
</dl>
${trialDays > 0 ? html`<dl><dt>Trial</dt><dd>${daysOf(trialDays)} free</dd></dl>` : ""}
<dl class="sum"><dt>Due today</dt><dd>${unlessInTrial(trialDays, total, nothing)}</dd></dl>
</section>
<form class="card" method="post" aria-label="Payment">
${problem ? html`<p class="problem" role="alert">${problem}</p>` : ""}
<div class="field">
<label for="email">Email</label>
<input id="email" name="email" type="email" autocomplete="email" required maxlength="254" value="${email}">
</div>
<div class="field">
<label for="card">Test card</label>
<input id="card" name="card" inputmode="numeric" autocomplete="off" maxlength="23" aria-describedby="card-help" value="${inFours(card)}">
<p class="help" id="card-help">4242 4242 4242 4242 pays, 4000 0000 0000 0002 is declined. Never enter a real one.</p>
</div>
${allowPromotionCodes ? html`<div class="field"><label for="code">Promotion code</label><input id="code" name="code" autocomplete="off" maxlength="100" value="${code}"></div>` : ""}
${trialDays > 0 ? "" : html`<div class="field"><label class="check"><input type="checkbox" name="trial"${wantsTrial ? " checked" : ""}> Start with a ${TRIAL_DAYS}-day free trial: nothing is due today</label></div>`}
<div class="field"><button class="main" name="action" value="pay">${unlessInTrial(trialDays, `Pay ${total}`, "Start the trial")}</button></div>
<div class="field"><button class="full bad" name="action" value="decline">Decline the card</button></div>
<button class="full" name="action" value="cancel" formnovalidate>Cancel and go back</button>
</form>
</div>`,
  );
}

/** For a trial that the payer may choose, which of both is shown follows its box. */
function unlessInTrial(trialDays: number, paid: string, inTrial: string): Html | string {
  if (trialDays > 0) return inTrial;
  return html`<span class="paid">${paid}</span><span class="in-trial">${inTrial}</span>`;
}

function closed(slot: ProviderSlot, checkout: Checkout): Html {
  const isPaid = checkout.status === "complete";
  const url = returnUrl(slot, checkout, isPaid ? "completed" : "cancelled");
  return messagePage(
    isPaid ? "Paid" : "This checkout has expired",
    isPaid
      ? `${checkout.offer.planName} with ${seatsOf(checkout.seats)} is yours.`
      : "Nothing was paid. Begin anew where you came from.",
    url ? { href: url, label: "Go back" } : null,
  );
}

function unknown(): Html {
  return messagePage("No such checkout", "The link is wrong, or its checkout was forgotten long ago.", null);
}

function daysOf(days: number): string {
  return days === 1 ? "1 day" : `${days} days`;
}

function inFours(text: string): string {
  return text.replaceAll(/(\d{4})(?=\d)/g, "$1 ");
}
