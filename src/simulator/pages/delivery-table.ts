import { html } from "hono/html";
import type { Slot } from "../../domain/slot.ts";
import type { ProviderSlot } from "../server/provider-slot.ts";
import type { QueuedEvent } from "../server/state.ts";
import { FAULT_WORDS } from "./fault-form.ts";
import { instant } from "./format.ts";
import type { Html } from "./page.ts";

const SHOWN_DELIVERIES = 30;

export function deliveryTable({ name: slot, state }: ProviderSlot): Html {
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
