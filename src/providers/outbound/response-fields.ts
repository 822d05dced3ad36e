import { ownValue } from "../webhook/json-reader.ts";
import type { ConnectedProvider } from "./connected-provider.ts";
import { problem } from "./problems.ts";

/** The value at a path of a response; `undefined` when there is none. */
export function valueAt(response: unknown, ...keys: string[]): unknown {
  return keys.reduce(ownValue, response);
}

export function listAt(response: unknown, ...keys: string[]): readonly unknown[] {
  const value = valueAt(response, ...keys);
  return Array.isArray(value) ? value : [];
}

/** Ids are strings, or numbers to be converted. */
export function textAt(response: unknown, ...keys: string[]): string | null {
  const value = valueAt(response, ...keys);
  if (Number.isSafeInteger(value)) return String(value);
  return typeof value === "string" && value !== "" ? value : null;
}

/** @throws PaymentApiProblem when the response lacks a documented field */
export function requiredText(provider: ConnectedProvider, response: unknown, ...keys: string[]): string {
  return textAt(response, ...keys) ?? unpromised(provider, keys);
}

/** A whole number of at least 0; `null`: there is none. */
export function wholeNumberAt(response: unknown, ...keys: string[]): number | null {
  const digits = textAt(response, ...keys);
  return digits !== null && /^\d{1,15}$/.test(digits) ? Number(digits) : null;
}

/** A URL to redirect a person to. @throws PaymentApiProblem when there is none */
export function requiredUrl(provider: ConnectedProvider, response: unknown, ...keys: string[]): string {
  const url = URL.parse(textAt(response, ...keys) ?? "");
  return url !== null && /^https?:$/.test(url.protocol) ? url.href : unpromised(provider, keys);
}

export function dateAt(response: unknown, ...keys: string[]): Date | null {
  const date = new Date(textAt(response, ...keys) ?? "");
  return Number.isNaN(date.getTime()) ? null : date;
}

/** @throws PaymentApiProblem */
export function unpromised(provider: ConnectedProvider, keys: readonly string[]): never {
  throw problem(provider, "unreachable", `the response has no usable ${keys.join(".")}`);
}
