import { isDeeperThan } from "../domain/json-depth.ts";
import { refuse } from "../domain/refusals/refusal.ts";

/** Our deepest input has three levels. */
const MAX_DEPTH = 20;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;

/** The query parameter that holds the JSON; `null`: it is the body. */
type Parameter = string | null;

/**
 * Parses a JSON object, and rejects what two parsers could read differently or PostgreSQL cannot store.
 * @param bytes UTF-8
 * @param options `inspectsText: false`: the text in it is left to `assertStorableText`
 * @throws Refusal `invalid_input`
 */
export function inspectJson(
  bytes: Buffer,
  parameter: Parameter = null,
  { inspectsText = true } = {},
): Record<string, unknown> {
  if (isDeeperThan(bytes, MAX_DEPTH)) refuseJson(parameter, `JSON nested at most ${MAX_DEPTH} deep`);
  const fields = countFields(bytes);
  const text = bytes.toString();
  const value = parseJson(text, parameter);
  if (typeof value !== "object" || value === null || Array.isArray(value))
    refuseJson(parameter, "a JSON object");
  // Only an escape can produce an invalid character.
  const keptFields = countKept(value, { parameter, escaped: inspectsText && text.includes("\\u") });
  if (keptFields !== fields) refuseJson(parameter, "JSON in which no object has a field twice");
  return value as Record<string, unknown>;
}

/** @param value parsed JSON, of a body @throws Refusal `invalid_input` for text that PostgreSQL cannot store */
export function assertStorableText(value: unknown): void {
  countKept(value, { parameter: null, escaped: true });
}

function refuseJson(parameter: Parameter, expected: string): never {
  const problem = parameter === null ? "unreadable_body" : "wrong_type";
  return refuse({ reason: "invalid_input", params: { problem, expected }, field: parameter });
}

/** Counts the colons outside strings. */
function countFields(bytes: Buffer): number {
  let fields = 0;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] as number;
    if (byte === QUOTE) i = endOfString(bytes, i);
    else if (byte === COLON) fields++;
  }
  return fields;
}

/** The index of the closing quote. */
function endOfString(bytes: Buffer, start: number): number {
  let i = start + 1;
  while (i < bytes.length && bytes[i] !== QUOTE) i += bytes[i] === BACKSLASH ? 2 : 1;
  return i;
}

function parseJson(text: string, parameter: Parameter): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message quotes the input.
    return refuseJson(parameter, parameter === null ? "a body that is valid JSON" : "valid JSON");
  }
}

type Inspected = { parameter: Parameter; escaped: boolean };

/** Counts the parsed fields: the parser keeps only the last of duplicate names. */
function countKept(value: unknown, inspected: Inspected): number {
  const { parameter, escaped } = inspected;
  if (typeof value === "string") {
    if (escaped) assertText(value, parameter);
    return 0;
  }
  if (typeof value !== "object" || value === null) return 0;
  let fields = 0;
  if (Array.isArray(value)) {
    for (const item of value) fields += countKept(item, inspected);
    return fields;
  }
  for (const name of Object.keys(value)) {
    assertName(name, value);
    if (escaped) assertText(name, parameter);
    fields += 1 + countKept((value as Record<string, unknown>)[name], inspected);
  }
  return fields;
}

/** Harmless once parsed, but not where it is merged into another object (CWE-1321). */
function assertName(name: string, object: object): void {
  if (name === "__proto__")
    refuse({ reason: "invalid_input", params: { problem: "unknown_field" }, field: "__proto__" });
  if (name !== "constructor") return;
  const value = (object as Record<string, unknown>)[name];
  if (typeof value === "object" && value !== null && Object.hasOwn(value, "prototype")) {
    refuse({ reason: "invalid_input", params: { problem: "unknown_field" }, field: "constructor.prototype" });
  }
}

/** PostgreSQL stores neither. */
function assertText(text: string, parameter: Parameter): void {
  if (text.includes("\0")) refuseJson(parameter, "text without NUL characters");
  if (!text.isWellFormed()) refuseJson(parameter, "text without lone surrogates");
}
