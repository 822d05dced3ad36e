import { expect, it } from "vitest";
import { documentReader } from "../../../src/api/graphql/documents.ts";
import { schema } from "../../../src/api/graphql/schema.ts";

function reader() {
  const { parse, validate } = documentReader(schema, { introspection: true });
  return {
    /** Whether a text is cached once it has been parsed. */
    remembers: (text: string) => {
      const document = parse(text);
      validate(document);
      return parse(text) === document;
    },
    parse,
    validate,
  };
}

it("caches a valid document of usual length", () => {
  const { remembers } = reader();
  expect(remembers("{ me { id } }")).toBe(true);
  expect(remembers("{ me { nothing } }")).toBe(false);
  expect(remembers(`{ me { id } } #${" ".repeat(2_000)}`)).toBe(false);
});

it("does not cache an invalid document", () => {
  const { parse, validate } = reader();
  for (let n = 0; n < 3; n += 1) expect(validate(parse("{ me { nothing } }"))).toHaveLength(1);
});

it("evicts the least recently used document", () => {
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
