import type { TollgateEvent } from "./event.ts";

export type VerifyOptions = {
  /** How far the timestamp may be from now, in both directions. 300 unless given. */
  toleranceSeconds?: number;
  now?: Date;
};

/** Why a request is not from Tollgate, or not from now. */
export type VerificationProblem = "missing_header" | "timestamp" | "signature" | "body";

/** Answer such a request with 400. */
export class EventVerificationError extends Error {
  override readonly name = "EventVerificationError";
  readonly problem: VerificationProblem;

  constructor(problem: VerificationProblem) {
    super(PROBLEMS[problem]);
    this.problem = problem;
  }
}

const PROBLEMS: Record<VerificationProblem, string> = {
  missing_header: "webhook-id, webhook-timestamp or webhook-signature is missing",
  timestamp: "webhook-timestamp is not a time, or outside the tolerance",
  signature: "no signature matches: wrong secret, or the body is not exactly as received",
  body: "the body is not an event",
};

const BODY_NOT_RAW = `the body must be a string or bytes, exactly as received, not parsed: \
express.raw({ type: "application/json" }) in Express, await request.text() in Next.js`;

type SentHeaders =
  | { get(name: string): string | null }
  | Record<string, string | readonly string[] | undefined>;

/**
 * The event of a request to your endpoint, once its signature and time are verified (Standard Webhooks).
 * @param body exactly as received: not parsed, not formatted again
 * @param headers those of the request
 * @param secrets the endpoint's signing secret (`whsec_...`); while it is rotated, both
 * @throws EventVerificationError
 * @throws TypeError where the body has been parsed, or the secret is malformed
 */
export async function verifyEvent(
  body: string | Uint8Array,
  headers: SentHeaders,
  secrets: string | readonly string[],
  { toleranceSeconds = 300, now = new Date() }: VerifyOptions = {},
): Promise<TollgateEvent> {
  const id = headerOf(headers, "id");
  const timestamp = headerOf(headers, "timestamp");
  const signatures = headerOf(headers, "signature").split(" ");
  if (!/^\d{1,12}$/.test(timestamp)) throw new EventVerificationError("timestamp");
  if (Math.abs(Math.floor(now.getTime() / 1000) - Number(timestamp)) > toleranceSeconds)
    throw new EventVerificationError("timestamp");

  if (typeof body !== "string" && !ArrayBuffer.isView(body)) throw new TypeError(BODY_NOT_RAW);
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const signed = joined(new TextEncoder().encode(`${id}.${timestamp}.`), bytes);
  for (const secret of typeof secrets === "string" ? [secrets] : secrets) {
    if (await matches(secret, signed, signatures)) return parsed(bytes, id);
  }
  throw new EventVerificationError("signature");
}

async function matches(
  secret: string,
  signed: BufferSource,
  signatures: readonly string[],
): Promise<boolean> {
  const key = await crypto.subtle.importKey(
    "raw",
    secretBytes(secret),
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["verify"],
  );
  for (const signature of signatures) {
    const [version, value = ""] = signature.split(",", 2);
    const bytes = version === "v1" ? base64Bytes(value) : null;
    // Compares in constant time.
    if (bytes !== null && (await crypto.subtle.verify("HMAC", key, bytes, signed))) return true;
  }
  return false;
}

function headerOf(headers: SentHeaders, name: string): string {
  const prefixes = ["webhook-", "svix-"];
  for (const prefix of prefixes) {
    const value =
      typeof headers.get === "function" ? headers.get(prefix + name) : propertyOf(headers, prefix + name);
    if (value) return value;
  }
  throw new EventVerificationError("missing_header");
}

function propertyOf(headers: object, name: string): string | undefined {
  const entry = Object.entries(headers).find(([key]) => key.toLowerCase() === name);
  return Array.isArray(entry?.[1]) ? entry[1][0] : entry?.[1];
}

function secretBytes(secret: string): Uint8Array<ArrayBuffer> {
  const bytes = base64Bytes(secret.replace(/^whsec_/, ""));
  if (bytes === null || bytes.length === 0) throw new TypeError("a signing secret is whsec_ and base64");
  return bytes;
}

function base64Bytes(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}

function joined(start: Uint8Array, rest: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(start.length + rest.length);
  all.set(start);
  all.set(rest, start.length);
  return all;
}

function parsed(bytes: Uint8Array, id: string): TollgateEvent {
  try {
    const event = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    if (event?.id === id && typeof event.type === "string") return event;
  } catch {
    // Reported below.
  }
  throw new EventVerificationError("body");
}
