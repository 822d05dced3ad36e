import { describe, expect, test } from "vitest";
import { UnreadablePayload } from "../../src/domain/deliveries/payload-problems.ts";
import { JsonReader } from "../../src/providers/webhook/json-reader.ts";

const place = (json: string) => new JsonReader(JSON.parse(json));

test("reads absent, null and empty fields as null at any depth", () => {
  for (const json of ["{}", '{"a":null}', '{"a":{}}', '{"a":{"b":null}}', '{"a":{"b":""}}', "null"]) {
    expect(place(json).at("a").text("b")).toBeNull();
    expect(place(json).at("a").id("b")).toBeNull();
  }
  expect(place('{"a":{"b":null}}').at("a", "b", "c", "d").flag("e")).toBeNull();
  expect(place("{}").at("a", "b").each("c")).toEqual([]);
  for (const json of ["{}", '{"a":null}']) {
    expect(place(json).wholeNumber("a")).toBeNull();
    expect(place(json).flag("a")).toBeNull();
    expect(place(json).each("a")).toEqual([]);
    expect(place(json).unixDate("a")).toBeNull();
    expect(place(json).rfc3339Date("a")).toBeNull();
    expect(place(json).unixMicros("a")).toBeNull();
  }
});

test("ignores inherited properties", () => {
  expect(place("{}").text("constructor")).toBeNull();
  expect(place("{}").at("constructor").text("name")).toBeNull();
  expect(place('{"__proto__":{"a":"b"}}').text("a")).toBeNull();
  expect(place('{"__proto__":{"a":"b"}}').at("__proto__").text("a")).toBe("b");
  expect(place("{}").has("toString")).toBe(false);
});

test("accepts text of 1 to 255 well-formed characters without NUL", () => {
  for (const character of ["x", "🔑"]) {
    const longest = character.repeat(255);
    expect(new JsonReader({ a: longest }).text("a")).toBe(longest);
    expect(() => new JsonReader({ a: longest + character }).text("a")).toThrow(
      "a: expected at most 255 characters",
    );
  }
  expect(() => new JsonReader({ a: "x\0" }).text("a")).toThrow(
    'a: expected text without NUL, got "x\\u0000"',
  );
  expect(() => new JsonReader({ a: "\udc00" }).text("a")).toThrow(
    'a: expected well-formed Unicode, got "\\udc00"',
  );
});

test("quotes at most forty characters of a value in a message", () => {
  const emoji = "\u{1f600}".repeat(200);
  for (const value of ["x".repeat(5000), "\u0001".repeat(5000), '"'.repeat(5000), emoji, `x${emoji}`]) {
    const message = messageOf(() => new JsonReader({ a: value }).flag("a"));
    expect(message.isWellFormed()).toBe(true);
    expect(message.length).toBeLessThanOrEqual("a: expected true or false, got ".length + 40);
  }
  expect(messageOf(() => new JsonReader({ a: ["secret"] }).flag("a"))).toBe(
    "a: expected true or false, got a list",
  );
  expect(messageOf(() => new JsonReader({ a: { b: "secret" } }).flag("a"))).toBe(
    "a: expected true or false, got an object",
  );
});

test("names a payload that is not an object", () => {
  expect(messageOf(() => new JsonReader("text").at("a").text("b"))).toBe(
    'payload: expected an object, got "text"',
  );
});

describe("whole numbers", () => {
  test.each([
    ["0", 0],
    ["-0", 0],
    ["1000000", 1_000_000],
    ["5.0", 5],
    ["1e3", 1000],
    ["null", null],
  ])("%s reads as %s", (json, expected) => {
    expect(place(`{"a":${json}}`).wholeNumber("a")).toBe(expected);
  });

  test.each(["-1", "1000001", "0.5", "1e400", '"5"', "true", "[]", "{}", '""'])("%s is rejected", (json) => {
    expect(() => place(`{"a":${json}}`).wholeNumber("a")).toThrow(UnreadablePayload);
  });
});

describe("amounts", () => {
  test.each([
    ["0", 0],
    ["-0", 0],
    ['"-0"', 0],
    ["4900", 4_900],
    ['"4900"', 4_900],
    ['"-4900"', -4_900],
    ['"999999999999999"', 999_999_999_999_999],
    ["null", null],
    ['""', null],
  ])("%s reads as %s", (json, expected) => {
    expect(place(`{"a":${json}}`).amount("a")).toBe(expected);
  });

  test("are absent without the field", () => {
    expect(place("{}").amount("a")).toBeNull();
  });

  test.each([
    "0.5",
    '"49.00"',
    '"1e3"',
    '" 5"',
    '"+5"',
    '"0x1f"',
    '"1000000000000000"',
    "9007199254740993",
    "true",
    "[5]",
    "{}",
  ])("%s is rejected", (json) => {
    expect(() => place(`{"a":${json}}`).amount("a")).toThrow("a: expected");
  });
});

test("accepts currencies of three letters, in upper case", () => {
  expect(place('{"a":"eur"}').currency("a")).toBe("EUR");
  expect(place("{}").currency("a")).toBeNull();
  for (const code of ["EU", "EURO", "E1R", "\u20ac"])
    expect(() => new JsonReader({ a: code }).currency("a")).toThrow(UnreadablePayload);
});

test("accepts a numeric id only when it is exact", () => {
  expect(place('{"a":9007199254740991}').id("a")).toBe("9007199254740991");
  expect(place('{"a":-3}').id("a")).toBe("-3");
  for (const json of ["9007199254740993", "1e21", "0.1", "1e999"]) {
    expect(() => place(`{"a":${json}}`).id("a")).toThrow("a: expected text or a whole number");
  }
});

describe("RFC 3339 times", () => {
  test.each([
    ["1970-01-01T00:00:00Z", 0],
    ["2026-03-01T12:00:00Z", 1_772_366_400_000_000],
    ["2026-03-01t12:00:00z", 1_772_366_400_000_000],
    ["2026-03-01 12:00:00+00:00", 1_772_366_400_000_000],
    ["2026-03-01T13:30:00+01:30", 1_772_366_400_000_000],
    ["2026-03-01T00:00:00-12:00", 1_772_366_400_000_000],
    ["2026-03-01T12:00:00.1Z", 1_772_366_400_100_000],
    ["2026-03-01T12:00:00.123456Z", 1_772_366_400_123_456],
    ["2026-03-01T12:00:00.123456999Z", 1_772_366_400_123_456],
    ["2024-02-29T00:00:00Z", 1_709_164_800_000_000],
    ["2016-12-31T23:59:60Z", 1_483_228_800_000_000],
    ["2255-06-05T23:47:34.740991Z", 9_007_199_254_740_991],
  ])("%s", (text, micros) => {
    expect(new JsonReader({ at: text }).rfc3339Micros("at")).toBe(micros);
  });

  test.each([
    "2026-03-01",
    "2026-03-01T12:00:00",
    "2026-03-01T12:00Z",
    "2026-02-29T12:00:00Z",
    "2026-13-01T12:00:00Z",
    "2026-00-01T12:00:00Z",
    "2026-03-00T12:00:00Z",
    "2026-03-01T24:00:00Z",
    "2026-03-01T12:60:00Z",
    "2026-03-01T12:00:61Z",
    "2026-03-01T12:00:00.Z",
    "2026-03-01T12:00:00.1234567890Z",
    "2026-03-01T12:00:00+24:00",
    "1969-12-31T23:59:59Z",
    "0070-01-01T00:00:00Z",
    "1970-01-01T00:00:00+00:01",
    "9999-12-31T23:59:59-00:01",
    "10000-01-01T00:00:00Z",
    "2255-06-05T23:47:34.740992Z",
    "Sun, 01 Mar 2026 12:00:00 GMT",
    "1772366400",
  ])("%s is rejected", (text) => {
    expect(() => new JsonReader({ at: text }).rfc3339Micros("at")).toThrow(UnreadablePayload);
  });

  test("are accepted up to the last millisecond of the year 9999", () => {
    const read = (text: string) => new JsonReader({ at: text }).rfc3339Date("at");
    expect(read("9999-12-31T23:59:59.999999Z")).toEqual(new Date("9999-12-31T23:59:59.999Z"));
    expect(read("2026-03-01T12:00:00.0019Z")).toEqual(new Date("2026-03-01T12:00:00.001Z"));
  });
});

test("accepts whole Unix seconds from 1970 to 9999", () => {
  expect(new JsonReader({ at: 0 }).unixMicros("at")).toBe(0);
  expect(new JsonReader({ at: 1_772_366_400 }).unixMicros("at")).toBe(1_772_366_400_000_000);
  expect(new JsonReader({ at: 253_402_300_799 }).unixDate("at")).toEqual(new Date("9999-12-31T23:59:59Z"));
  for (const at of [-1, 1.5, 253_402_300_800, 1_772_366_400_000, "1772366400", true, [], Number.NaN]) {
    expect(() => new JsonReader({ at }).unixDate("at")).toThrow(
      "at: expected Unix seconds from 1970 to 9999",
    );
  }
});

function messageOf(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (error instanceof UnreadablePayload) return error.message;
    throw error;
  }
  throw new Error("nothing was refused");
}
