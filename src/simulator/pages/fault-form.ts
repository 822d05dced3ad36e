import { html } from "hono/html";
import type { ProviderSlot } from "../server/provider-slot.ts";
import { FAULT_KINDS, type Fault, type FaultKind } from "../server/state.ts";
import type { Html } from "./page.ts";

export const FAULT_WORDS: Record<FaultKind, { name: string; help: string }> = {
  duplicate: { name: "Duplicate", help: "Delivered twice." },
  delay: { name: "Delay", help: "Held back for 30 seconds." },
  reorder: { name: "Reorder", help: "A later one goes first." },
  drop: { name: "Drop", help: "Never delivered." },
  corrupt: { name: "Corrupt", help: "The first try is corrupted." },
};

export function hasFaults({ state }: ProviderSlot): boolean {
  return FAULT_KINDS.some((kind) => isOn(state.faults[kind]));
}

export function faultForm({ name: slot, state }: ProviderSlot, kind: FaultKind): Html {
  const { name, help } = FAULT_WORDS[kind];
  const fault = state.faults[kind];
  const { next, share } = fault;
  const id = `${slot}-${kind}`;
  return html`<form class="fault" method="post" action="/control/${slot}/faults" aria-label="${name}">
<input type="hidden" name="kind" value="${kind}">
<div class="row apart"><strong>${name}</strong>${isOn(fault) ? html`<span class="state warn">On</span>` : ""}</div>
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

function isOn({ next, share }: Fault): boolean {
  return next > 0 || share > 0;
}
