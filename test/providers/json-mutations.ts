import type { Random } from "./random.ts";

/** The keys from the root of a document to one of its values. */
export type Path = readonly (string | number)[];

// What `JSON.stringify` cannot write is put in as text.
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
export function pathsIn(value: unknown, path: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, child]) => pathsIn(child, [...path, key]))];
}

/** The document with one to three of its values replaced, left out, renamed or swapped. */
export function mutateJson(random: Random, text: string, paths: readonly Path[]): string {
  const document = { root: JSON.parse(text) as unknown };
  for (let changes = 1 + random.below(3); changes > 0; changes -= 1) {
    change(random, document, ["root", ...random.pick(paths)], ["root", ...random.pick(paths)]);
  }
  return (JSON.stringify(document.root) ?? "null").replaceAll(`"${OVERFLOW}"`, "1e400");
}

function change(random: Random, document: object, path: Path, otherPath: Path): void {
  const holder = holderOf(document, path);
  const key = path.at(-1);
  if (holder === null || key === undefined) return;
  switch (random.below(5)) {
    case 0:
      delete holder[key];
      return;
    case 1: {
      const renamed = random.pick(KEYS);
      define(holder, renamed, holder[key]);
      return;
    }
    case 2: {
      // A copy: a document that holds itself could not be written.
      const other = holderOf(document, otherPath)?.[otherPath.at(-1) ?? ""];
      define(holder, String(key), other === undefined ? null : JSON.parse(JSON.stringify(other)));
      return;
    }
    default:
      define(holder, String(key), structuredClone(random.pick(HOSTILE_VALUES)));
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
