import { ownValue } from "../webhook/json-reader.ts";
import type { ConnectedProvider } from "./connected-provider.ts";
import { problem } from "./problems.ts";

/** The value at a path of a response; `undefined` when there is none. */
export function valueAt(answer: unknown, ...keys: string[]): unknown {
  return keys.reduce(ownValue, answer);
}

export function listAt(answer: unknown, ...keys: string[]): readonly unknown[] {
  const value = valueAt(answer, ...keys);
  return Array.isArray(value) ? value : [];
}

/** Ids are strings, or numbers to be converted. */
export function textAt(answer: unknown, ...keys: string[]): string | null {
  const value = valueAt(answer, ...keys);
  if (Number.isSafeInteger(value)) return String(value);
  return typeof value === "string" && value !== "" ? value : null;
}

/** @throws PaymentApiProblem when the response lacks a documented field */
export function requiredText(provider: ConnectedProvider, answer: unknown, ...keys: string[]): string {
  return textAt(answer, ...keys) ?? unpromised(provider, keys);
}

/** A URL to redirect a person to. @throws PaymentApiProblem when there is none */
export function requiredUrl(provider: ConnectedProvider, answer: unknown, ...keys: string[]): string {
  const url = URL.parse(textAt(answer, ...keys) ?? "");
  return url !== null && /^https?:$/.test(url.protocol) ? url.href : unpromised(provider, keys);
}

export function dateAt(answer: unknown, ...keys: string[]): Date | null {
  const date = new Date(textAt(answer, ...keys) ?? "");
  return Number.isNaN(date.getTime()) ? null : date;
}

function unpromised(provider: ConnectedProvider, keys: string[]): never {
  throw problem(provider, "unreachable", `the answer has no usable ${keys.join(".")}`);
}
