import type { Expectation } from "../../domain/deliveries/failures.ts";
import { UnreadablePayload } from "../../domain/deliveries/payload-problems.ts";
import { type Instant, instantOfRfc3339, instantOfUnixSeconds, toDate, toMicros } from "./instant.ts";
import { isLongerThan } from "./is-longer-than.ts";

const MAX_TEXT_CHARACTERS = 255;
const MAX_URL_CHARACTERS = 2_000;
const MAX_WHOLE_NUMBER = 1_000_000;
const MAX_SHOWN_CHARACTERS = 40;

/**
 * A position in a parsed JSON document. Readers return `null` for an absent value, `null` or an empty string,
 * and throw UnreadablePayload with the path for a wrong type.
 */
export class JsonReader {
  readonly #value: unknown;
  readonly #parent: JsonReader | null;
  readonly #key: string | number;

  constructor(value: unknown, parent: JsonReader | null = null, key: string | number = "") {
    this.#value = value;
    this.#parent = parent;
    this.#key = key;
  }

  /** A nested object; below an absent one everything is absent. */
  at(...keys: string[]): JsonReader {
    let reader: JsonReader = this;
    for (const key of keys) reader = reader.#child(key);
    return reader;
  }

  /** Whether the key exists, even with `null`. */
  has(key: string): boolean {
    return this.#object() !== null && ownValue(this.#value, key) !== undefined;
  }

  isNull(key: string): boolean {
    return this.#child(key).#value === null;
  }

  isText(key: string): boolean {
    return typeof this.#child(key).#value === "string";
  }

  /** 1 to 255 characters without NUL, well-formed. */
  text(key: string): string | null {
    return this.#child(key).#text("text");
  }

  /** An id as text; whole numbers are converted, as some senders write ids as numbers. */
  id(key: string): string | null {
    return this.#child(key).#id();
  }

  /** An id, given as such or within an expanded object. */
  idOrExpanded(key: string): string | null {
    const child = this.#child(key);
    return typeof child.#value === "object" ? child.id("id") : child.#id();
  }

  /** Translates one of the provider's keywords. */
  oneOf<Meaning>(key: string, keywords: ReadonlyMap<string, Meaning>): Meaning | null {
    const keyword = this.text(key);
    if (keyword === null) return null;
    const meaning = keywords.get(keyword);
    return meaning === undefined
      ? this.#child(key).#refuse("known_value", [...keywords.keys()].join(", "))
      : meaning;
  }

  /** 0 to 1000000. */
  wholeNumber(key: string): number | null {
    const child = this.#child(key);
    const value = child.#value;
    if (value === undefined || value === null) return null;
    const fits = Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MAX_WHOLE_NUMBER;
    // Adding zero converts minus zero, which JSON can contain, to zero.
    return fits ? Number(value) + 0 : child.#refuse("count");
  }

  /** An amount in the currency's smallest unit, as a whole number or as its digits. */
  amount(key: string): number | null {
    const child = this.#child(key);
    const value = child.#value;
    if (value === undefined || value === null || value === "") return null;
    const number = typeof value === "string" && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
    return typeof number === "number" && Number.isSafeInteger(number) ? number + 0 : child.#refuse("amount");
  }

  /** ISO 4217, in upper case. */
  currency(key: string): string | null {
    const text = this.text(key);
    if (text === null) return null;
    const code = text.toUpperCase();
    return /^[A-Z]{3}$/.test(code) ? code : this.#child(key).#refuse("currency");
  }

  /** A web address for people to follow; `null` for anything else. */
  webUrl(key: string): string | null {
    const value = this.#child(key).#value;
    if (typeof value !== "string" || value.length > MAX_URL_CHARACTERS) return null;
    return URL.parse(value)?.protocol === "https:" ? value : null;
  }

  flag(key: string): boolean | null {
    const child = this.#child(key);
    if (child.#value === undefined || child.#value === null) return null;
    return typeof child.#value === "boolean" ? child.#value : child.#refuse("boolean");
  }

  /** The items of a list; none when it is absent. */
  each(key: string): JsonReader[] {
    const child = this.#child(key);
    const list = child.#value;
    if (list === undefined || list === null) return [];
    return Array.isArray(list)
      ? list.map((value, index) => new JsonReader(value, child, index))
      : child.#refuse("list");
  }

  /** Microseconds since the epoch, from RFC 3339 text. */
  rfc3339Micros(key: string): number | null {
    const child = this.#child(key);
    return child.#micros(child.#rfc3339());
  }

  /** Microseconds since the epoch, from Unix seconds. */
  unixMicros(key: string): number | null {
    const child = this.#child(key);
    return child.#micros(child.#unixSeconds());
  }

  rfc3339Date(key: string): Date | null {
    const instant = this.#child(key).#rfc3339();
    return instant && toDate(instant);
  }

  unixDate(key: string): Date | null {
    const instant = this.#child(key).#unixSeconds();
    return instant && toDate(instant);
  }

  #child(key: string): JsonReader {
    return new JsonReader(this.#object() === null ? undefined : ownValue(this.#value, key), this, key);
  }

  #object(): object | null {
    const value = this.#value;
    if (value === undefined || value === null) return null;
    if (typeof value === "object" && !Array.isArray(value)) return value;
    // Senders written in PHP encode an empty object as an empty list.
    return Array.isArray(value) && value.length === 0 ? null : this.#refuse("object");
  }

  #id(): string | null {
    if (typeof this.#value !== "number") return this.#text("text_or_number");
    return Number.isSafeInteger(this.#value) ? String(this.#value) : this.#refuse("text_or_number");
  }

  #text(expected: Expectation): string | null {
    const value = this.#value;
    if (value === undefined || value === null || value === "") return null;
    if (typeof value !== "string") return this.#refuse(expected);
    if (isLongerThan(value, MAX_TEXT_CHARACTERS)) return this.#refuse("text_up_to_255");
    if (value.includes("\0")) return this.#refuse("text_without_nul");
    return value.isWellFormed() ? value : this.#refuse("unicode");
  }

  #rfc3339(): Instant | null {
    const text = this.#text("rfc3339");
    return text === null ? null : (instantOfRfc3339(text) ?? this.#refuse("rfc3339_to_9999"));
  }

  #unixSeconds(): Instant | null {
    const value = this.#value;
    if (value === undefined || value === null) return null;
    const instant = typeof value === "number" ? instantOfUnixSeconds(value) : null;
    return instant ?? this.#refuse("unix_seconds");
  }

  #micros(instant: Instant | null): number | null {
    return instant === null ? null : (toMicros(instant) ?? this.#refuse("before_2255"));
  }

  #refuse(expected: Expectation, values?: string): never {
    const path = this.#path() || "payload";
    throw new UnreadablePayload({
      path,
      expected,
      value: describeValue(this.#value),
      ...(values === undefined ? {} : { values }),
    });
  }

  #path(): string {
    const parent = this.#parent === null ? "" : this.#parent.#path();
    if (typeof this.#key === "number") return `${parent}[${this.#key}]`;
    return parent === "" ? this.#key : `${parent}.${this.#key}`;
  }
}

/** An object's own property; `undefined` when it has none of that name, or is not an object. */
export function ownValue(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;
}

// Payloads contain personal data: a message quotes only the beginning of a value.
function describeValue(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "an object";
  if (typeof value !== "string") return String(value);
  const json = JSON.stringify(value.slice(0, MAX_SHOWN_CHARACTERS));
  if (json.length <= MAX_SHOWN_CHARACTERS) return json;
  // PostgreSQL stores no half of a character.
  return `${json.slice(0, MAX_SHOWN_CHARACTERS - 1).toWellFormed()}…`;
}
