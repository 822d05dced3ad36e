import { expect, it } from "vitest";
import { isDeeperThan } from "../../src/domain/json-depth.ts";

it.each([
  ["[]", 1, false],
  ["[[]]", 1, true],
  ['{"a":{"b":[]}}', 3, false],
  ['{"a":{"b":[]}}', 2, true],
  ['"[[[["', 0, false],
  ['["\\"[[[["]', 1, false],
  ['["\\\\",[]]', 1, true],
  ["[".repeat(100_000), 100, true],
])("counts nested brackets outside of strings: %s has depth %i", (json, maxDepth, expected) => {
  expect(isDeeperThan(Buffer.from(json), maxDepth)).toBe(expected);
});
