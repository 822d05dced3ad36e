import { describe, expect, it } from "vitest";
import { jsonText } from "../../src/http/json-text.ts";

const AT = new Date(1_700_000_000_123);

describe("jsonText", () => {
  it.each<[string, unknown]>([
    ["scalars", { text: 'a"b\n\u2028', yes: true, none: null, n: -1.5e300 }],
    ["dates in objects and lists", { items: [{ at: AT, read: null }, { at: new Date(0) }], at: AT }],
    ["a date alone", AT],
    ["a list of dates", [AT, [AT], { at: AT }]],
    ["a date that is none", { at: new Date(Number.NaN), other: AT }],
    ["dates before 1970 and after 9999", [new Date(-1), new Date(-62_198_755_200_000), new Date(8.64e15)]],
    ["undefined in an object and a list", { a: undefined, list: [undefined, AT] }],
    ["a list with a hole", Object.assign(new Array(3), { 0: AT, 2: 3 })],
    ["an object that says what it is in JSON", { toJSON: () => ({ at: AT }), at: 1 }],
    [
      "an instance of a class",
      new (class Box {
        at = AT;
        toJSON() {
          return "box";
        }
      })(),
    ],
    ["an object without a prototype", Object.assign(Object.create(null), { at: AT })],
    ["maps and sets", { map: new Map([[1, AT]]), set: new Set([AT]) }],
    ["the same object twice", [{ at: AT }, { at: AT }].flatMap((item) => [item, item])],
  ])("writes what JSON.stringify writes: %s", (_, value) => {
    expect(jsonText(value)).toBe(JSON.stringify(value));
  });

  it("keeps a member called __proto__ as one", () => {
    const value = Object.defineProperty({ at: AT }, "__proto__", { value: { at: AT }, enumerable: true });
    expect(jsonText(value)).toBe(JSON.stringify(value));
  });

  it("leaves the value as it was", () => {
    const value = { items: [{ at: AT }] };
    jsonText(value);
    expect(value.items[0]?.at).toBe(AT);
  });
});
