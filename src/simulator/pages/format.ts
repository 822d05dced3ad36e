import { html } from "hono/html";
import { formatMoney } from "../../domain/payments/money.ts";
import type { Offer } from "../lifecycle/offer.ts";
import type { SubscriptionState } from "../lifecycle/subscription.ts";
import type { Html } from "./page.ts";

/** Formats for the reader's languages, e.g. "20,00 EUR". @param languages an Accept-Language header */
export function money(amount: number, currency: string, languages = "en"): string {
  return `${formatMoney(localeOf(languages), { amount, currency }, { style: "decimal" })} ${currency}`;
}

export function perInterval({ interval }: Offer): string {
  return `per seat / ${interval}`;
}

export function seatsOf(count: number): string {
  return count === 1 ? "1 seat" : `${count} seats`;
}

export function day(seconds: number): string {
  return new Intl.DateTimeFormat("en", { dateStyle: "long", timeZone: "UTC" }).format(seconds * 1_000);
}

/** To the second, so that it can be compared with a log. */
export function instant(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

export function stateOf({ status, cancelAtPeriodEnd }: SubscriptionState): Html {
  const [tone, label] = {
    incomplete: ["warn", "Incomplete"],
    trialing: ["good", "On trial"],
    active: ["good", "Active"],
    past_due: ["warn", "Past due"],
    paused: ["warn", "Paused"],
    unpaid: ["bad", "Unpaid"],
    canceled: ["rest", "Ended"],
  }[status] as [string, string];
  return html`<span class="state ${cancelAtPeriodEnd && tone === "good" ? "warn" : tone}">${label}${
    cancelAtPeriodEnd && status !== "canceled" ? ", canceled" : ""
  }</span>`;
}

/** Describes the next change. */
export function outlook({
  status,
  cancelAtPeriodEnd,
  periodEndSeconds,
  offer,
  seats,
}: SubscriptionState): string {
  const date = day(periodEndSeconds);
  const sum = money(offer.amount * seats, offer.currency);
  if (status === "canceled") return "It has ended.";
  if (cancelAtPeriodEnd) return `Ends on ${date}.`;
  switch (status) {
    case "incomplete":
      return "The first payment is due.";
    case "trialing":
      return `The trial ends on ${date}; then it costs ${sum} per ${offer.interval}.`;
    case "active":
      return `Renews on ${date} for ${sum}.`;
    case "past_due":
      return `The last renewal was not paid: ${sum} is due, and will be charged again.`;
    case "paused":
      return "It is paused: nothing is charged until the pause ends.";
    case "unpaid":
      return `${sum} is due, and will not be charged again.`;
    default:
      return status satisfies never;
  }
}

function localeOf(languages: string): string {
  const [first = ""] = languages.split(/[,;]/);
  try {
    return Intl.getCanonicalLocales(first.trim())[0] ?? "en";
  } catch {
    return "en";
  }
}
