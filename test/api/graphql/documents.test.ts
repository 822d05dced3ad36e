import { expect, it } from "vitest";
import { documentReader } from "../../../src/api/graphql/documents.ts";
import { schema } from "../../../src/api/graphql/schema.ts";

function reader() {
  const { parse, validate } = documentReader(schema, { introspection: true });
  return {
    /** Whether a text that has been read once need not be read again. */
    remembers: (text: string) => {
      const document = parse(text);
      validate(document);
      return parse(text) === document;
    },
    parse,
    validate,
  };
}

it("reads a document once that is valid and of a usual length", () => {
  const { remembers } = reader();
  expect(remembers("{ me { id } }")).toBe(true);
  expect(remembers("{ me { nothing } }")).toBe(false);
  expect(remembers(`{ me { id } } #${" ".repeat(2_000)}`)).toBe(false);
});

it("takes nothing for valid that has not been found so", () => {
  const { parse, validate } = reader();
  for (let n = 0; n < 3; n += 1) expect(validate(parse("{ me { nothing } }"))).toHaveLength(1);
});

it("forgets what has not been asked for the longest, so that nobody can fill the memory", () => {
  const { parse, validate } = reader();
  const text = (n: number) => `{ a${n}: unreadCount }`;
  const first = parse(text(0));
  const second = parse(text(1));
  for (const document of [first, second]) validate(document);
  for (let n = 2; n < 101; n += 1) {
    validate(parse(text(n)));
    expect(parse(text(0))).toBe(first);
  }
  expect(parse(text(1))).not.toBe(second);
});
