import { createHmac, randomInt } from "node:crypto";
import { readdirSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { InvalidPayload, UnreadablePayload } from "../../src/domain/deliveries/payload-problems.ts";
import { EVENT_KINDS, type PaymentEvent } from "../../src/domain/events/payment-event.ts";
import { SUBSCRIPTION_STATUSES } from "../../src/domain/subscriptions/subscription-status.ts";
import type { SignedRequest, VerifyOptions, WireFormat } from "../../src/providers/adapter.ts";
import { ADAPTERS, wireFormats } from "../../src/providers/registry.ts";
import { createRng, type Rng } from "../../src/simulator/scenario/rng.ts";
import { loadFixture, type SignedDelivery, signedDelivery } from "../fixtures/fixture.ts";
import { HOSTILE_TIMESTAMPS, mutateBytes, mutateText } from "../fixtures/mutations.ts";
import { isGenuine } from "./oracle.ts";
import { requestOf } from "./request.ts";

// script/fuzz runs more, and then expects memory to stay flat.
const RUNS = Number(process.env.FUZZ_RUNS ?? 10_000);
const MEASURES_MEMORY = RUNS >= 100_000;
const SEED = Number(process.env.FUZZ_SEED ?? randomInt(2 ** 32));
const NOW = 1_772_366_400;
const TOLERANCE_SECONDS = 300;
const TIME_LIMIT_MS = 10 * 60 * 1000;
const MEGABYTE = 1024 * 1024;

const SECRETS = [
  "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  "whsec_dGhpcyBpcyBhbm90aGVyIHNlY3JldA==",
  "whsec_test_secret",
  "pdl_ntfset_0",
  "Zoë's secret",
  "x",
  "whsec_",
  "whsec_!!!!",
  "",
];

setFlagsFromString("--expose_gc");
const collectGarbage: () => void = runInNewContext("gc");

describe.each(wireFormats())(`%s, ${RUNS} times, FUZZ_SEED=${SEED}`, (format) => {
  const samples = samplesOf(format);

  test("accepts a mutated delivery exactly when its signature is genuine", {
    timeout: TIME_LIMIT_MS,
  }, () => {
    const counts = { accepted: 0, refused: 0 };
    repeatedly((rng) => {
      const { request, options } = mutatedDelivery(rng, format, samples);
      const accepted = ADAPTERS.of(format).verify(request, options) === null;
      if (accepted !== isGenuine(format, request, options)) {
        throw new Error(`${accepted ? "a forgery was accepted" : "a genuine delivery was refused"}`);
      }
      counts[accepted ? "accepted" : "refused"] += 1;
    });
    expect(counts.accepted).toBeGreaterThan(RUNS / 50);
    expect(counts.refused).toBeGreaterThan(RUNS / 5);
  });

  test("either reads a mutated payload or refuses it with a reason", { timeout: TIME_LIMIT_MS }, () => {
    const counts = { read: 0, refused: 0 };
    repeatedly((rng) => {
      const sample = rng.pick(samples);
      const text = mutateJson(rng, sample.text, sample.paths);
      counts[isReadable(format, text, rng.chance(1 / 2) ? sample.eventType : null) ? "read" : "refused"] += 1;
    });
    expect(counts.read).toBeGreaterThan(RUNS / 20);
    expect(counts.refused).toBeGreaterThan(RUNS / 20);
  });
});

type Sample = SignedDelivery & { secret: string; text: string; eventType: string; paths: Path[] };

function samplesOf(format: WireFormat): Sample[] {
  const names = readdirSync(new URL(`../fixtures/${format}`, import.meta.url));
  return names.flatMap((name) => {
    const { body, eventType } = loadFixture(format, name.replace(".json", ""));
    // Most mutations of a whole payload hit fields that are not read: the lean one has hardly any.
    const secret = SECRETS[names.indexOf(name) % 6] ?? "";
    return [body, lean(body)].map((sample) => ({
      ...withoutContentType(signedDelivery(format, sample, { secret, nowSeconds: NOW })),
      secret,
      text: JSON.stringify(sample),
      eventType,
      paths: pathsIn(sample),
    }));
  });
}

function withoutContentType({ rawBody, headers }: SignedDelivery): SignedDelivery {
  const { "content-type": _type, ...signed } = headers;
  return { rawBody, headers: signed };
}

const READ =
  /^(id|type|created|event_.*|occurred_at|timestamp|.*status|origin|billing_reason|customer|subscription|.*_id|meta|metadata|custom_data|userId|planId|data|object|items|first_.*_item|attributes|plan|price|prices|quantity|seats|current_.*|cancel.*|scheduled_change|action|ends_at|renews_at|updated_at|\d+)$/;

function lean(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(lean);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => READ.test(key))
      .map(([key, child]) => [key, lean(child)]),
  );
}

function mutatedDelivery(
  rng: Rng,
  format: WireFormat,
  samples: Sample[],
): { request: SignedRequest; options: VerifyOptions } {
  const sample = rng.pick(samples);
  const otherSample = rng.pick(samples);
  let { rawBody, secret } = sample;
  let headers = { ...sample.headers };
  let nowSeconds = NOW;
  if (rng.chance(1 / 4)) {
    secret = rng.pick(SECRETS);
    // Correctly signed, but with a guessable key or an invalid timestamp.
    const key = rng.pick([secret, "", Buffer.from(secret, "base64"), Buffer.from(secret.slice(6), "base64")]);
    headers = headersSignedBy(format, key, rawBody, rng.pick(HOSTILE_TIMESTAMPS));
  }
  const secrets = [secret];
  for (let changes = rng.between(0, 3); changes > 0; changes -= 1) {
    const [name] = rng.shuffled(Object.keys(headers));
    const kind = rng.between(0, 11);
    if (kind < 6 && name)
      headers[name] = mutateText(rng, headers[name] ?? "", otherSample.headers[name] ?? "");
    else if (kind === 6 && name) delete headers[name];
    else if (kind === 7) secrets.unshift(rng.pick(SECRETS));
    else if (kind === 8) secrets[0] = rng.pick(SECRETS);
    else if (kind === 9) nowSeconds = NOW + rng.pick([-301, -300.5, -300, 300, 300.5, 301, 1e9, -NOW]);
    else rawBody = mutateBytes(rng, rawBody, otherSample.rawBody);
  }
  return {
    request: requestOf(rawBody, headers),
    options: { secrets, nowSeconds, toleranceSeconds: rng.chance(1 / 8) ? 0 : TOLERANCE_SECONDS },
  };
}

function headersSignedBy(
  format: WireFormat,
  key: string | Buffer,
  rawBody: Buffer,
  timestamp: string,
): Record<string, string> {
  const mac = (prefix: string) => createHmac("sha256", key).update(prefix).update(rawBody);
  switch (format) {
    case "stripe":
      return { "stripe-signature": `t=${timestamp},v1=${mac(`${timestamp}.`).digest("hex")}` };
    case "paddle":
      return { "paddle-signature": `ts=${timestamp};h1=${mac(`${timestamp}:`).digest("hex")}` };
    case "polar": {
      const signature = mac(`msg_0.${timestamp}.`).digest("base64");
      return {
        "webhook-id": "msg_0",
        "webhook-timestamp": timestamp,
        "webhook-signature": `v1,${signature}`,
      };
    }
    case "lemon-squeezy":
      return { "x-signature": mac("").digest("hex") };
    default:
      throw new Error(`unknown format ${format}`);
  }
}

/** Signs the text, verifies it, and reads it under its own name or the name given. */
function isReadable(format: WireFormat, text: string, knownName: string | null): boolean {
  const adapter = ADAPTERS.of(format);
  const rawBody = Buffer.from(text);
  const signing = { secret: "secret", nowSeconds: NOW, eventId: "evt_0" };
  const body: unknown = JSON.parse(text);
  try {
    const unannounced = requestOf(rawBody, { "webhook-id": "evt_0" });
    const { eventType } = adapter.identify(unannounced, body);
    const request = requestOf(rawBody, adapter.sign(rawBody, { ...signing, eventType }));
    const options = { secrets: ["secret"], nowSeconds: NOW, toleranceSeconds: 0 };
    if (adapter.verify(request, options) !== null) throw new Error("a genuine delivery was refused");
    requireSound(adapter.interpret(knownName ?? eventType, body));
    return true;
  } catch (error) {
    if (!(error instanceof InvalidPayload || error instanceof UnreadablePayload)) throw error;
    if (error.message.length > 400) throw new Error(`too long a message: ${error.message}`);
    return false;
  }
}

function requireSound(event: PaymentEvent): void {
  const texts = [event.userId, event.planId, event.customerId, event.providerSubscriptionId];
  const seats = event.items.map((item) => item.seats);
  const sound =
    [...EVENT_KINDS, "payment", "ignored"].includes(event.kind) &&
    isSoundPayment(event) &&
    [...texts, ...event.items.flatMap((item) => item.priceIds)].every(isSoundText) &&
    seats.every((count) => count === null || (Number.isInteger(count) && count >= 0 && count <= 1_000_000)) &&
    (event.status === null || SUBSCRIPTION_STATUSES.includes(event.status)) &&
    (event.occurredAtMicros === null ||
      (Number.isSafeInteger(event.occurredAtMicros) && event.occurredAtMicros >= 0)) &&
    (event.currentPeriodEnd === null || event.currentPeriodEnd.getTime() >= 0) &&
    (event.cancelAtPeriodEnd === null || typeof event.cancelAtPeriodEnd === "boolean");
  if (!sound) throw new Error(`an unsound event: ${JSON.stringify(event)}`);
}

function isSoundPayment({ kind, payment }: PaymentEvent): boolean {
  if (payment === undefined) return kind !== "payment";
  const { charge, names, reversal } = payment;
  const amounts = [charge?.amount, charge?.refundedAmount, reversal?.amount];
  return (
    [charge?.id ?? null, ...names, reversal?.id ?? null, reversal?.of ?? null].every(isSoundText) &&
    amounts.every((amount) => amount === undefined || amount === null || Number.isSafeInteger(amount)) &&
    (charge === null || /^[A-Z]{3}$/.test(charge.currency))
  );
}

function isSoundText(text: string | null): boolean {
  if (text === null) return true;
  return (
    typeof text === "string" &&
    text.length > 0 &&
    [...text].length <= 255 &&
    text.isWellFormed() &&
    !text.includes("\0")
  );
}

/** Runs with one seeded source of chance; a failure says at which run. */
function repeatedly(run: (rng: Rng) => void): void {
  const rng = createRng(SEED);
  let warm = heldBytes();
  for (let index = 0; index < RUNS; index += 1) {
    if (index === Math.floor(RUNS / 5)) warm = heldBytes();
    try {
      run(rng);
    } catch (cause) {
      throw new Error(`run ${index} with FUZZ_SEED=${SEED} FUZZ_RUNS=${RUNS}: ${cause}`, { cause });
    }
  }
  if (!MEASURES_MEMORY) return;
  const end = heldBytes();
  expect(end.heap - warm.heap).toBeLessThan(2 * MEGABYTE);
  // Buffers are freed a little after garbage collection.
  expect(end.external - warm.external).toBeLessThan(32 * MEGABYTE);
}

function heldBytes(): { heap: number; external: number } {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return { heap: heapUsed, external };
}

/** The keys from the root of a document to one of its values. */
type Path = readonly (string | number)[];

// Values that `JSON.stringify` cannot write are inserted as text.
const OVERFLOW = "@overflow@";

const HOSTILE_VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -0,
  -1,
  1.5,
  1e21,
  2 ** 53,
  -(2 ** 53),
  1_772_366_400,
  253_402_300_799,
  253_402_300_800,
  OVERFLOW,
  "",
  " ",
  "0",
  "five",
  "paid",
  "cancelled",
  "constructor",
  "__proto__",
  "2026-03-01T12:00:00Z",
  "9999-12-31T23:59:59.999999999+23:59",
  "2026-02-30T00:00:00Z",
  "x".repeat(255),
  "x".repeat(256),
  "x".repeat(5000),
  "a\0b",
  "\ud800",
  "\u{1f600}".repeat(128),
  [],
  {},
  [null],
  [[[]]],
  [{}, null, 5, "x"],
  { id: {} },
  { id: "x" },
  { data: [{}] },
  { length: 5 },
  JSON.parse('{"__proto__":{"id":"x","status":"active"}}'),
  JSON.parse(`${"[".repeat(90)}${"]".repeat(90)}`),
  Array.from({ length: 300 }, () => ({})),
];

const KEYS = [
  "id",
  "type",
  "data",
  "object",
  "meta",
  "metadata",
  "items",
  "status",
  "__proto__",
  "constructor",
  "length",
];

/** All places in a document, for picking some of them. */
function pathsIn(value: unknown, path: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, child]) => pathsIn(child, [...path, key]))];
}

/** The document with one to three of its values replaced, left out, renamed or swapped. */
function mutateJson(rng: Rng, text: string, paths: readonly Path[]): string {
  const document = { root: JSON.parse(text) as unknown };
  for (let changes = rng.between(1, 3); changes > 0; changes -= 1) {
    change(rng, document, ["root", ...rng.pick(paths)], ["root", ...rng.pick(paths)]);
  }
  return (JSON.stringify(document.root) ?? "null").replaceAll(`"${OVERFLOW}"`, "1e400");
}

function change(rng: Rng, document: object, path: Path, otherPath: Path): void {
  const holder = holderOf(document, path);
  const key = path.at(-1);
  if (holder === null || key === undefined) return;
  switch (rng.between(0, 4)) {
    case 0:
      delete holder[key];
      return;
    case 1: {
      const renamed = rng.pick(KEYS);
      define(holder, renamed, holder[key]);
      return;
    }
    case 2: {
      // A copy: a circular document could not be serialized.
      const otherValue = holderOf(document, otherPath)?.[otherPath.at(-1) ?? ""];
      define(holder, String(key), otherValue === undefined ? null : JSON.parse(JSON.stringify(otherValue)));
      return;
    }
    default:
      define(holder, String(key), structuredClone(rng.pick(HOSTILE_VALUES)));
  }
}

function define(holder: object, key: string, value: unknown): void {
  if (Array.isArray(holder) && key === "length") return;
  Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true });
}

function holderOf(document: object, path: Path): Record<string | number, unknown> | null {
  let holder: unknown = document;
  for (const key of path.slice(0, -1)) {
    if (typeof holder !== "object" || holder === null || !Object.hasOwn(holder, key)) return null;
    holder = (holder as Record<string | number, unknown>)[key];
  }
  return typeof holder === "object" && holder !== null ? (holder as Record<string | number, unknown>) : null;
}
