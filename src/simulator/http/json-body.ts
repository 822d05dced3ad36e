import type { Context } from "hono";

/** Reads fields of untyped JSON. */
export type Json = {
  at(key: string | number): Json;
  has(key: string): boolean;
  /** `null`: absent, or not a string. */
  text(): string | null;
  /** `null`: absent; NaN: not an integer. */
  wholeNumber(): number | null;
  /** Seconds since 1970 of a time given as text; `null`: absent, or not a string; NaN: not a time. */
  epochSeconds(): number | null;
  flag(): boolean | null;
  /** The array's texts. */
  texts(): string[];
  /** The array's ids, which are texts or numbers. */
  ids(): string[];
  /** The object's own entries. */
  entries(): Record<string, unknown>;
};

/** `null`: invalid JSON. An empty body is an empty object. */
export async function readJson(c: Context): Promise<Json | null> {
  try {
    return json(JSON.parse((await c.req.text()) || "{}"));
  } catch {
    return null;
  }
}

function json(value: unknown): Json {
  const isObject = typeof value === "object" && value !== null;
  const text = () => (typeof value === "string" && value !== "" ? value : null);
  return {
    at: (key) => json(isObject && Object.hasOwn(value, key) ? value[key as keyof typeof value] : undefined),
    has: (key) => isObject && Object.hasOwn(value, key),
    text,
    wholeNumber: () => {
      if (value === undefined || value === null) return null;
      return Number.isInteger(value) ? (value as number) : Number.NaN;
    },
    epochSeconds: () => {
      const time = text();
      return time === null ? null : Date.parse(time) / 1_000;
    },
    flag: () => (typeof value === "boolean" ? value : null),
    texts: () => (Array.isArray(value) ? value.filter((element) => typeof element === "string") : []),
    ids: () =>
      Array.isArray(value)
        ? value.flatMap((id) => (typeof id === "string" || typeof id === "number" ? [String(id)] : []))
        : [],
    entries: () => (isObject && !Array.isArray(value) ? { ...value } : {}),
  };
}
