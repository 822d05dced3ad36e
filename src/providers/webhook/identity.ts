import { InvalidPayload } from "../../domain/deliveries/payload-problems.ts";
import type { EventIdentity } from "../../domain/events/payment-event.ts";
import { isLongerThan } from "./is-longer-than.ts";

const MAX_CHARACTERS = 255;

/** @throws InvalidPayload naming which of the two is missing or unusable, and why. */
export function eventIdentity(eventId: unknown, eventType: unknown): EventIdentity {
  // The type first: an id may be derived from it.
  const usableType = usable(eventType, "event type");
  return { eventId: usable(eventId, "event id"), eventType: usableType };
}

/** @throws InvalidPayload for a list, a bare value or `null`. */
export function requireObject(body: unknown): object {
  if (typeof body === "object" && body !== null && !Array.isArray(body)) return body;
  throw new InvalidPayload("expected a JSON object");
}

function usable(value: unknown, name: string): string {
  if (value === undefined || value === null) throw new InvalidPayload(`${name} is missing`);
  if (typeof value !== "string") throw new InvalidPayload(`${name} is not a string`);
  if (value === "") throw new InvalidPayload(`${name} is empty`);
  if (isLongerThan(value, MAX_CHARACTERS)) {
    throw new InvalidPayload(`${name} is longer than ${MAX_CHARACTERS} characters`);
  }
  if (value.includes("\0")) throw new InvalidPayload(`${name} contains a NUL character`);
  if (!value.isWellFormed()) throw new InvalidPayload(`${name} is not well-formed Unicode`);
  return value;
}
