import { html } from "hono/html";
import type { PaymentStatus } from "../../domain/payments/payment.ts";
import { chargedAmount, hasFailed, paymentStatus, paymentsOf, refundedAmount } from "../server/payments.ts";
import type { ProviderSlot } from "../server/provider-slot.ts";
import { openDispute } from "../server/reverse-payment.ts";
import type { SimulatedPayment } from "../server/state.ts";
import { instant, money } from "./format.ts";
import type { Html } from "./page.ts";

const SHOWN_PAYMENTS = 10;

const STATUSES: Record<PaymentStatus, [tone: string, label: string]> = {
  paid: ["good", "Paid"],
  failed: ["bad", "Failed"],
  refunded: ["rest", "Refunded"],
  partly_refunded: ["warn", "Partly refunded"],
  disputed: ["bad", "Disputed"],
};

/** The latest payments, with what can be done about each. */
export function paymentTable(slot: ProviderSlot): Html {
  const payments = paymentsOf(slot, null).slice(0, SHOWN_PAYMENTS);
  if (payments.length === 0) return html`<p class="soft">None yet.</p>`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Payments of ${slot.name}"><table>
<thead><tr><th>Payment</th><th>At</th><th class="number">Amount</th><th>State</th><th></th></tr></thead>
<tbody>${payments.map((payment) => paymentRow(slot, payment))}</tbody></table></div>`;
}

function paymentRow(slot: ProviderSlot, payment: SimulatedPayment): Html {
  const { id, subscriptionId, atSeconds, state } = payment;
  const status = paymentStatus(payment);
  const [tone, label] =
    status === "disputed" && openDispute(payment) === undefined
      ? (["bad", "Dispute lost"] as const)
      : STATUSES[status];
  return html`<tr><td><code>${id}</code><br><code class="soft">${subscriptionId}</code></td>
<td class="fixed">${instant(atSeconds * 1_000)}</td><td class="number">${money(chargedAmount(payment), state.offer.currency)}</td>
<td class="fixed"><span class="state ${tone}">${label}</span></td><td>${actions(slot, payment)}</td></tr>`;
}

function actions({ name: slot, traits }: ProviderSlot, payment: SimulatedPayment): Html {
  if (hasFailed(payment)) return html``;
  const { id } = payment;
  const refundable = chargedAmount(payment) - refundedAmount(payment);
  const isDisputed = paymentStatus(payment) === "disputed";
  const isOpen = openDispute(payment) !== undefined;
  const hidden = html`<input type="hidden" name="payment" value="${id}">`;
  const canDispute = !isDisputed && (traits.disputes !== "refunded" || refundable > 0);
  return html`<div class="row">${
    refundable > 0
      ? html`<form class="row" method="post" action="/control/${slot}/refund">${hidden}
<input class="narrow" style="width:104px" aria-label="Amount to refund, in the smallest unit" name="amount" type="number" min="1" max="${refundable}" value="${refundable}">
<button class="small" aria-label="Refund ${id}">Refund</button></form>`
      : ""
  }${
    canDispute
      ? html`<form method="post" action="/control/${slot}/dispute">${hidden}<button class="small" aria-label="Dispute ${id}">Dispute</button></form>`
      : ""
  }${
    isOpen
      ? html`<form method="post" action="/control/${slot}/win-dispute">${hidden}<button class="small" aria-label="Win the dispute of ${id}">Win the dispute</button></form>
<form method="post" action="/control/${slot}/lose-dispute">${hidden}<button class="small" aria-label="Lose the dispute of ${id}">Lose the dispute</button></form>`
      : ""
  }</div>`;
}
