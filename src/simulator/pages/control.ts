import { type Context, Hono } from "hono";
import { html } from "hono/html";
import type { Slot } from "../../domain/slot.ts";
import { type Clock, nextDueMs } from "../server/move-clock.ts";
import { portalUrl } from "../server/portal-link.ts";
import { checkoutUrl, type ProviderSlot } from "../server/provider-slot.ts";
import {
  type Checkout,
  FAULT_KINDS,
  type FaultKind,
  type QueuedEvent,
  type SimulatedSubscription,
} from "../server/state.ts";
import { day, instant, money, seatsOf, stateOf } from "./format.ts";
import { maskedSecret } from "./masked-secret.ts";
import { type Html, page } from "./page.ts";
import { paymentTable } from "./payment-table.ts";

export type ControlOptions = { slots: readonly ProviderSlot[]; clock: Clock; deliverTo(slot: Slot): string };

const SHOWN_DELIVERIES = 30;
const SHOWN_CHECKOUTS = 5;

const FAULT_WORDS: Record<FaultKind, { name: string; help: string }> = {
  duplicate: { name: "Duplicate", help: "Delivered twice." },
  delay: { name: "Delay", help: "Held back for 30 seconds." },
  reorder: { name: "Reorder", help: "A later one goes first." },
  drop: { name: "Drop", help: "Never delivered." },
  corrupt: { name: "Corrupt", help: "The first try is corrupted." },
};

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
<nav aria-label="This page"><ul><li><a href="/">Look again</a></li><li><a href="#clock">Clock</a></li>${slots.map(
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
    nextMs === null
      ? "Nothing comes due."
      : html`Next, something comes due on <strong>${instant(nextMs)}</strong>.`
  }</p>
<form method="post" action="/control/clock" class="row">
<button name="by" value="day">Forward a day</button>
<button name="by" value="week">Forward a week</button>
<button name="by" value="month">Forward a month</button>
<button name="by" value="next">To what comes next</button>
</form>
<p class="help">Renewals, ends of trials, charges that are tried again and ends of subscriptions happen on the way. It never goes back.</p>
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
${deliveries(slot)}
</section>`;
}

function endpointState({ name, state }: ProviderSlot): Html {
  if (!state.endpoint.isDisabled) return html`<span class="state good">Endpoint on</span>`;
  return html`<form class="row" method="post" action="/control/${name}/enable"><span class="state bad">Endpoint switched off</span><button class="small">Switch the endpoint on</button></form>`;
}

function secretOf({ name, state }: ProviderSlot): Html {
  const variable = `${name.replace("-", "_").toUpperCase()}_WEBHOOK_SECRET`;
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

function hasFaults({ state }: ProviderSlot): boolean {
  return FAULT_KINDS.some((kind) => state.faults[kind].next > 0 || state.faults[kind].share > 0);
}

function faultForm({ name: slot, state }: ProviderSlot, kind: FaultKind): Html {
  const { name, help } = FAULT_WORDS[kind];
  const { next, share } = state.faults[kind];
  const isOn = next > 0 || share > 0;
  const id = `${slot}-${kind}`;
  return html`<form class="fault" method="post" action="/control/${slot}/faults" aria-label="${name}">
<input type="hidden" name="kind" value="${kind}">
<div class="row apart"><strong>${name}</strong>${isOn ? html`<span class="state warn">On</span>` : ""}</div>
<p class="help">${help}</p>
<div class="row end" style="margin-top:8px">
<div><label for="${id}-next">Next</label><input class="narrow" style="width:72px" id="${id}-next" name="next" type="number" min="0" max="1000" value="${next}"></div>
<div><label for="${id}-share">Then</label><select class="narrow" id="${id}-share" name="share">${[
    0, 0.1, 0.25, 0.5, 1,
  ].map(
    (option) =>
      html`<option value="${option}" ${option === share ? "selected" : ""}>${option === 0 ? "none" : option === 1 ? "all" : `${option * 100} %`}</option>`,
  )}</select></div>
<button class="small">Set</button>
</div></form>`;
}

function deliveries({ name: slot, state }: ProviderSlot): Html {
  if (state.events.length === 0) return html`<p class="soft">None yet.</p>`;
  const open = state.events.filter(({ status }) => status !== "delivered").length;
  return html`${
    open > 0
      ? html`<form method="post" action="/control/${slot}/redeliver"><button class="small">Deliver what did not arrive (${open})</button></form>`
      : ""
  }<div class="scroll" tabindex="0" role="region" aria-label="Deliveries of ${slot}"><table>
<thead><tr><th class="number">No.</th><th>Event</th><th>Made</th><th>Outcome</th><th class="number">Tries</th><th></th></tr></thead>
<tbody>${state.events
    .slice(-SHOWN_DELIVERIES)
    .toReversed()
    .map((event) => deliveryRow(slot, event))}</tbody></table></div>`;
}

function deliveryRow(slot: Slot, event: QueuedEvent): Html {
  const { number, eventType, eventId, madeAtMs, fault, tries } = event;
  return html`<tr><td class="number">${number}</td><td>${eventType}${fault ? html` <span class="state warn">${FAULT_WORDS[fault].name.toLowerCase()}</span>` : ""}<br><code class="soft">${eventId}</code></td>
<td class="fixed">${instant(madeAtMs)}</td><td>${outcomeOf(event)}${triesOf(tries)}</td><td class="number">${tries.length}</td>
<td class="fixed"><form method="post" action="/control/${slot}/redeliver"><input type="hidden" name="number" value="${number}"><button class="small" aria-label="Redeliver number ${number}">Redeliver</button></form></td></tr>`;
}

/** The last response, then earlier ones. */
function triesOf(tries: QueuedEvent["tries"]): Html {
  const last = tries.at(-1);
  if (!last) return html``;
  const lastOutcome = html`<span class="soft small">${last.outcome}</span>`;
  if (tries.length === 1) return html`<br>${lastOutcome}`;
  return html`<details><summary>${lastOutcome}</summary><ol class="soft small">${tries.map(
    ({ atMs, tookMs, outcome }) => html`<li>${instant(atMs)}, ${tookMs} ms: ${outcome}</li>`,
  )}</ol></details>`;
}

function outcomeOf({ status, dueAtMs, failures }: QueuedEvent): Html {
  switch (status) {
    case "delivered":
      return html`<span class="state good">Delivered</span>`;
    case "waiting":
      return html`<span class="state warn">${failures > 0 ? `Again at ${instant(dueAtMs)}` : "Waiting"}</span>`;
    case "given up":
      return html`<span class="state bad">Given up</span>`;
    case "dropped":
      return html`<span class="state bad">Dropped</span>`;
    case "skipped":
      return html`<span class="state rest">Skipped</span>`;
    default:
      return status satisfies never;
  }
}

function addressOf(slot: Slot, deliverTo: (slot: Slot) => string): string {
  try {
    return deliverTo(slot);
  } catch {
    return "not known yet";
  }
}
