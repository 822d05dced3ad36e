import { expect, test } from "vitest";
import { bearerCheck } from "../../src/http/bearer-check.ts";

const isOperator = bearerCheck("0123456789 abcdef");

// RFC 9110, section 11.1: the name of a scheme is case-insensitive, and one or more spaces follow it.
test.each(["Bearer 0123456789 abcdef", "bearer 0123456789 abcdef", "BEARER   0123456789 abcdef"])(
  "accepts %j",
  (header) => expect(isOperator(header)).toBe(true),
);

test.each([
  undefined,
  "",
  "Bearer",
  "Bearer ",
  "0123456789 abcdef",
  "Basic 0123456789 abcdef",
  "Bearer0123456789 abcdef",
  "Bearer 0123456789 abcde",
  "Bearer 0123456789 abcdefg",
  "Bearer 0123456789 ABCDEF",
  "Bearer Bearer 0123456789 abcdef",
])("refuses %j", (header) => expect(isOperator(header)).toBe(false));
