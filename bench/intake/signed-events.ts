import { closeSync, openSync, writeSync } from "node:fs";
import { stripe } from "../../src/providers/stripe/webhook.ts";
import type { Options } from "./options.ts";

export const SECRET = "whsec_bench_0123456789abcdef0123456789abcdef";

/** When the first event happened by the provider's clock; SQL scripts have the same number. */
export const FIRST_SECOND = 1_750_000_000;

/**
 * Periods have not ended, as in real events: the next one of an ended period is searched for. Their ends fit
 * into a signed 32-bit integer, as which stripe-sync-engine stores them.
 */
const FIRST_PERIOD_END = 2_100_000_000;

const CHUNK_BYTES = 1024 * 1024;

/** Events go round the subscriptions in turn, each of which belongs to a user of its own. */
export type EventShape = Pick<Options, "subscriptions" | "bodyBytes" | "eventIds" | "changeEvery">;

/**
 * The time of an event by its number: later with each round through the subscriptions, so that none is stale.
 */
function createdAt(number: number, { subscriptions }: EventShape): number {
  return FIRST_SECOND + Math.floor(number / subscriptions);
}

export function subscriptionId(index: number): string {
  return `sub_1bench${String(index).padStart(8, "0")}`;
}

export function userId(index: number): string {
  return `bench_user_${String(index).padStart(8, "0")}`;
}

/**
 * Event ids in the shape of Stripe's: the time, what is constant for an account, then chance. Multiplying by
 * an odd number is one to one modulo 2^32, so that none is given out twice.
 */
function eventId(number: number, shape: EventShape): string {
  const chance = hex8(Math.imul(number, 0x9e3779b1) >>> 0);
  return shape.eventIds === "stripe"
    ? `evt_1${hex8(createdAt(number, shape))}2eZvKYlo2C${chance}`
    : `evt_1${chance}2eZvKYlo2C0000bench`;
}

export function hex8(value: number): string {
  return value.toString(16).padStart(8, "0");
}

/** A subscription event of Stripe's; all of them are equally long. */
export function eventBody(number: number, shape: EventShape): string {
  const index = number % shape.subscriptions;
  const subscription = subscriptionId(index);
  const created = createdAt(number, shape);
  const type = number < shape.subscriptions ? "created" : "updated";
  const digits = String(index).padStart(8, "0");
  // Staggered, so that the changes are spread evenly over the events.
  const changes = Math.floor((Math.floor(number / shape.subscriptions) + index) / shape.changeEvery);
  const seats = 1 + (changes % 5);
  const periodStart = FIRST_SECOND + changes;
  const body = `{"id":"${eventId(number, shape)}","object":"event","api_version":"2026-02-25.clover","created":${created},"livemode":false,"pending_webhooks":1,"request":{"id":null,"idempotency_key":null},"type":"customer.subscription.${type}","data":{"object":{"id":"${subscription}","object":"subscription","application":null,"billing_cycle_anchor":${FIRST_SECOND},"cancel_at":null,"cancel_at_period_end":false,"canceled_at":null,"collection_method":"charge_automatically","created":${FIRST_SECOND},"currency":"eur","customer":"cus_1bench${digits}","items":{"object":"list","data":[{"id":"si_1bench${digits}","object":"subscription_item","created":${FIRST_SECOND},"current_period_end":${FIRST_PERIOD_END + changes},"current_period_start":${periodStart},"metadata":{},"price":{"id":"price_pro_monthly","object":"price","currency":"eur","unit_amount":2000},"quantity":${seats},"subscription":"${subscription}"}],"has_more":false},"latest_invoice":"in_1bench${digits}","livemode":false,"metadata":{"userId":"${userId(index)}","planId":"pro"},"start_date":${FIRST_SECOND},"status":"active","description":""}}}`;
  return `${body.slice(0, -4)}${"x".repeat(Math.max(0, shape.bodyBytes - body.length))}${body.slice(-4)}`;
}

/** A whole request, byte for byte, signed now. */
export function signedRequest(number: number, shape: EventShape): string {
  const body = eventBody(number, shape);
  const headers = stripe.sign(Buffer.from(body), {
    secret: SECRET,
    nowSeconds: Date.now() / 1000,
    eventId: "",
    eventType: "",
  });
  return `POST /api/webhooks/provider-a HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: Stripe/1.0 (+https://stripe.com/docs/webhooks)\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${body.length}\r\nStripe-Signature: ${headers["stripe-signature"]}\r\n\r\n${body}`;
}

/** Writes the requests one behind the other and returns the length that each of them has. */
export function writeSignedEvents(
  path: string,
  events: { first: number; count: number },
  shape: EventShape,
): number {
  const requests = function* () {
    for (let nth = 0; nth < events.count; nth += 1) yield signedRequest(events.first + nth, shape);
  };
  return writeRequests(path, requests());
}

/** @throws Error unless all requests are equally long */
export function writeRequests(path: string, requests: Iterable<string>): number {
  const file = openSync(path, "w");
  let chunk = "";
  let length = 0;
  for (const request of requests) {
    if (length !== 0 && request.length !== length) throw new Error("requests differ in length");
    length = request.length;
    chunk += request;
    if (chunk.length >= CHUNK_BYTES) {
      writeSync(file, chunk);
      chunk = "";
    }
  }
  writeSync(file, chunk);
  closeSync(file);
  return length;
}

/** Notes for each subscription, by its index, the time of the last of these events. */
export function expectLast(
  times: Map<number, number>,
  events: { first: number; count: number },
  shape: EventShape,
): void {
  for (let number = events.first; number < events.first + events.count; number += 1) {
    times.set(number % shape.subscriptions, createdAt(number, shape));
  }
}
