import { type Context, Hono } from "hono";
import { html } from "hono/html";
import { type Slot, variablePrefix } from "../../domain/slot.ts";
import { type Clock, nextDueMs } from "../server/move-clock.ts";
import { portalUrl } from "../server/portal-link.ts";
import { checkoutUrl, type ProviderSlot } from "../server/provider-slot.ts";
import { type Checkout, FAULT_KINDS, type SimulatedSubscription } from "../server/state.ts";
import { deliveryTable } from "./delivery-table.ts";
import { faultForm, hasFaults } from "./fault-form.ts";
import { day, instant, money, seatsOf, stateOf } from "./format.ts";
import { maskedSecret } from "./masked-secret.ts";
import { type Html, page } from "./page.ts";
import { paymentTable } from "./payment-table.ts";

export type ControlOptions = { slots: readonly ProviderSlot[]; clock: Clock; deliverTo(slot: Slot): string };
const SHOWN_CHECKOUTS = 5;

/** The page for watching the provider and injecting faults. */
export function controlPage(options: ControlOptions): Hono {
  const app = new Hono();
  app.get("/", (c) => c.html(control(c, options)));
  return app;
}

function control(c: Context, { slots, clock, deliverTo }: ControlOptions): Html {
  const problem = c.req.query("problem");
  return page(
    "Simulated payment provider",
    html`<h1>Simulated payment provider</h1>
<p class="soft">It sells what <code>plans.config.ts</code> lists, in the format of each slot, and delivers webhooks as that provider does.</p>
${problem ? html`<p class="problem" role="alert">${problem}</p>` : ""}
<nav aria-label="This page"><ul><li><a href="/">Reload</a></li><li><a href="#clock">Clock</a></li>${slots.map(
      ({ name, state }) => html`<li><a href="#${name}">${name}, ${state.format}</a></li>`,
    )}</ul></nav>
<div class="stack">
${clockCard(slots, clock)}
${slots.map((slot) => slotCard(slot, deliverTo))}
</div>`,
    { wide: true },
  );
}

function clockCard(slots: readonly ProviderSlot[], clock: Clock): Html {
  const nextMs = nextDueMs(slots);
  return html`<section class="card" id="clock" aria-labelledby="clock-name">
<h2 id="clock-name">Clock</h2>
<p>For the provider it is <strong>${instant(clock.nowMs())}</strong>. ${
    nextMs === null ? "Nothing is due." : html`Next due date: <strong>${instant(nextMs)}</strong>.`
  }</p>
<form method="post" action="/control/clock" class="row">
<button name="by" value="day">Forward a day</button>
<button name="by" value="week">Forward a week</button>
<button name="by" value="month">Forward a month</button>
<button name="by" value="next">Forward to the next due date</button>
</form>
<p class="help">Renewals, ends of trials, retried charges and ends of subscriptions happen on the way. The clock never goes back.</p>
</section>`;
}

function slotCard(slot: ProviderSlot, deliverTo: (slot: Slot) => string): Html {
  const { name, state } = slot;
  return html`<section class="card" id="${name}" aria-labelledby="${name}-name">
<div class="row apart"><h2 id="${name}-name">${name}, ${state.format}</h2>${endpointState(slot)}</div>
<dl class="start">
<dt>Delivers to</dt><dd><code>${addressOf(name, deliverTo)}</code></dd>
<dt>API</dt><dd><code>${slot.url()}</code></dd>
<dt>Secret</dt><dd>${secretOf(slot)}</dd>
</dl>
<h3>Subscriptions</h3>
${subscriptionTable(slot)}
<h3>Payments</h3>
${paymentTable(slot)}
<h3>Open checkouts</h3>
${checkouts(slot)}
<details style="margin-top:24px" ${hasFaults(slot) ? "open" : ""}><summary>Disturb the next deliveries</summary>
<div class="faults" style="margin-top:8px">${FAULT_KINDS.map((kind) => faultForm(slot, kind))}</div></details>
<h3>Deliveries</h3>
${deliveryTable(slot)}
</section>`;
}

function endpointState({ name, state }: ProviderSlot): Html {
  if (!state.endpoint.isDisabled) return html`<span class="state good">Endpoint on</span>`;
  return html`<form class="row" method="post" action="/control/${name}/enable"><span class="state bad">Endpoint switched off</span><button class="small">Switch the endpoint on</button></form>`;
}

function secretOf({ name, state }: ProviderSlot): Html {
  const variable = `${variablePrefix(name)}_WEBHOOK_SECRET`;
  return html`<details><summary><code>${maskedSecret(state.secret)}</code></summary>
${
  state.secret === state.givenSecret
    ? html`<p class="help">The server accepts it while the simulator runs.</p>`
    : html`<p class="help">The server was started with another one and refuses this one, until it is restarted with <code>${variable}</code> set to the secret in DATA_DIR/simulator.json.</p>`
}
<form method="post" action="/control/${name}/secret"><button class="small">Rotate the secret</button></form></details>`;
}

function subscriptionTable(slot: ProviderSlot): Html {
  const subscriptions = slot.state.subscriptions.toReversed();
  if (subscriptions.length === 0) return html`<p class="soft">None yet: buy something in the product.</p>`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Subscriptions of ${slot.name}"><table>
<thead><tr><th>Customer</th><th>Plan</th><th>State</th><th>Period ends</th><th class="number">Per period</th><th></th></tr></thead>
<tbody>${subscriptions.map((subscription) => subscriptionRow(slot, subscription))}</tbody></table></div>`;
}

function subscriptionRow(slot: ProviderSlot, { ids, state, checkout }: SimulatedSubscription): Html {
  const { offer, seats } = state;
  const link = portalUrl(slot, {
    customerId: ids.customerId,
    returnUrl: `${new URL(slot.url()).origin}/#${slot.name}`,
  });
  return html`<tr><td>${checkout.email}<br><code class="soft">${ids.subscriptionId}</code></td>
<td class="fixed">${offer.planName}, ${seatsOf(seats)}</td><td class="fixed">${stateOf(state)}</td><td class="fixed">${day(state.periodEndSeconds)}</td>
<td class="number">${money(offer.amount * seats, offer.currency)}</td><td class="fixed"><a href="${link}">Open portal</a></td></tr>`;
}

function checkouts(slot: ProviderSlot): Html {
  const open = slot.state.checkouts.filter(({ status }) => status === "open").toReversed();
  if (open.length === 0) return html`<p class="soft">None.</p>`;
  return html`<ul>${open.slice(0, SHOWN_CHECKOUTS).map((checkout) => checkoutItem(slot, checkout))}</ul>`;
}

function checkoutItem(slot: ProviderSlot, checkout: Checkout): Html {
  const { offer, seats, email } = checkout;
  return html`<li><a href="${checkoutUrl(slot, checkout)}">${offer.planName}, ${seatsOf(seats)}</a> ${email ?? ""}</li>`;
}

function addressOf(slot: Slot, deliverTo: (slot: Slot) => string): string {
  try {
    return deliverTo(slot);
  } catch {
    return "not known yet";
  }
}
