import superjson from "superjson";
import { describe, expect, it } from "vitest";
import { superJsonText } from "../../../src/api/rpc/super-json-text.ts";

const AT = new Date(1_700_000_000_123);
const shared = { at: AT };
const circular: { self?: unknown } = {};
circular.self = circular;

describe("superJsonText", () => {
  it.each<[string, unknown]>([
    ["scalars", { text: 'a"b\n\u2028', yes: true, none: null, n: -1.5e300, zero: 0 }],
    [
      "dates in objects and lists",
      { items: [{ at: new Date(0), read: null }, { at: new Date(AT) }], at: AT },
    ],
    ["names with dots and backslashes", { "a.b": { "c\\d": new Date(1), "\\.": { at: new Date(2) } } }],
    ["a name that needs an escape", { 'a"b': { "\n": new Date(1) } }],
    ["empty lists and objects", { list: [], object: {}, nested: [[], {}] }],
    ["a list alone", [1, "two", [3]]],
    ["a scalar alone", "text"],
    ["null alone", null],
    ["a date alone", AT],
    ["undefined alone", undefined],
    ["undefined in an object", { a: undefined, b: 1 }],
    ["numbers that JSON lacks", { a: Number.NaN, b: Number.POSITIVE_INFINITY, c: -0, d: 10n }],
    ["a date that is none", { at: new Date(Number.NaN) }],
    ["the same date twice", { a: AT, b: AT }],
    ["the same object twice", { a: shared, b: [shared] }],
    ["an object in itself", circular],
    ["maps, sets, errors and addresses", { m: new Map([[1, AT]]), s: new Set([1]), e: new Error("no") }],
    ["bytes", { bytes: new Uint8Array([1, 2]) }],
    ["an object without a prototype", Object.assign(Object.create(null), { a: 1 })],
    ["a list with a hole", { list: Object.assign(new Array(3), { 0: 1, 2: 3 }) }],
    ["a function", { f: () => 1, g: 1 }],
  ])("writes what superjson writes: %s", (_, value) => {
    expect(superJsonText(value)).toBe(JSON.stringify(superjson.serialize(value)));
  });

  it.each(["constructor", "prototype", "__proto__"])("throws for a property called %s", (name) => {
    const value = JSON.parse(`{"${name}":{"a":1}}`);
    expect(() => superJsonText(value)).toThrow("prototype pollution");
  });

  it("can be read with superjson", () => {
    const value = { items: [{ at: AT, "a.b": { at: new Date(5) } }], nextCursor: null };
    expect(superjson.parse(superJsonText(value))).toEqual(value);
  });
});
