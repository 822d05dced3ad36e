import { setTimeout as sleep } from "node:timers/promises";
import { fixtureDelivery } from "../../fixtures/fixture.ts";
import { deliverWebhook, sendRequest } from "../../support/http.ts";
import { SECRETS } from "../../support/variables.ts";

export type Kind = "webhooks" | "REST" | "pages";

export type Measured = { latenciesMs: number[]; statuses: Record<number, number> };

/** Requests a second. */
const RATES: Record<Kind, number> = { webhooks: 20, REST: 20, pages: 4 };
export const USERS = 40;

let events = 0;

/** What the product's own people and providers send, for so long. @param keys API keys of its users */
export async function normalTraffic(
  url: string,
  { keys, seconds }: { keys: readonly string[]; seconds: number },
): Promise<Record<Kind, Measured>> {
  const key = (nth: number) => keys[nth % keys.length] as string;
  const headers = (nth: number) => ({ "x-forwarded-for": `198.51.100.${nth % 200}` });
  const [webhooks, rest, pages] = await Promise.all([
    pace(RATES.webhooks, seconds, () => deliverWebhook(url, "provider-a", nextEvent())),
    pace(RATES.REST, seconds, (nth) => sendRequest(url, "GET", "/api/subscriptions", { key: key(nth) })),
    pace(RATES.pages, seconds, (nth) => sendRequest(url, "GET", "/sign-in", { headers: headers(nth) })),
  ]);
  return { webhooks, REST: rest, pages };
}

export function nextEvent() {
  events += 1;
  const user = events % USERS;
  return fixtureDelivery("stripe", "customer.subscription.updated", {
    secret: SECRETS["provider-a"],
    nowSeconds: Math.floor(Date.now() / 1000),
    eventId: `evt_normal_${process.pid}_${events}`,
    ...{ userId: `user_${user}`, subscriptionId: `sub_${user}`, customerId: `cus_${user}`, planId: "pro" },
    ...{ priceId: "price_pro_monthly", status: "active", seats: 1 + (events % 5) },
  });
}

/** Sends at a fixed rate, whatever the answers take: a slow server does not get fewer requests. */
async function pace(
  rate: number,
  seconds: number,
  send: (nth: number) => Promise<{ status: number }>,
): Promise<Measured> {
  const measured: Measured = { latenciesMs: [], statuses: {} };
  const count = Math.round(rate * seconds);
  const startedAt = performance.now();
  const sent: Promise<void>[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    await sleep(Math.max(0, startedAt + (nth * 1_000) / rate - performance.now()));
    const sentAt = performance.now();
    // An idle connection may be closed just as it is used again: clients repeat such a request.
    const one = send(nth)
      .catch(() => send(nth))
      .then(
        ({ status }) => {
          measured.latenciesMs.push(performance.now() - sentAt);
          measured.statuses[status] = (measured.statuses[status] ?? 0) + 1;
        },
        () => {
          measured.statuses[0] = (measured.statuses[0] ?? 0) + 1;
        },
      );
    sent.push(one);
  }
  await Promise.all(sent);
  return measured;
}

export function p99(latenciesMs: readonly number[]): number {
  const sorted = latenciesMs.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.99))] ?? Number.NaN;
}
