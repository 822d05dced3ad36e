import type { Context } from "hono";

/** Steps into JSON of which nothing is known. */
export type Json = {
  at(key: string | number): Json;
  /** `null`: not there, or no text. */
  text(): string | null;
  /** `null`: not there; NaN: there, and no whole number. */
  wholeNumber(): number | null;
  flag(): boolean | null;
  /** Its own entries, when it is an object. */
  entries(): Record<string, unknown>;
};

/** `null`: no JSON. An empty body is an empty object. */
export async function readJson(c: Context): Promise<Json | null> {
  try {
    return json(JSON.parse((await c.req.text()) || "{}"));
  } catch {
    return null;
  }
}

function json(value: unknown): Json {
  const isObject = typeof value === "object" && value !== null;
  return {
    at: (key) => json(isObject && Object.hasOwn(value, key) ? value[key as keyof typeof value] : undefined),
    text: () => (typeof value === "string" && value !== "" ? value : null),
    wholeNumber: () => {
      if (value === undefined || value === null) return null;
      return Number.isInteger(value) ? (value as number) : Number.NaN;
    },
    flag: () => (typeof value === "boolean" ? value : null),
    entries: () => (isObject && !Array.isArray(value) ? { ...value } : {}),
  };
}
