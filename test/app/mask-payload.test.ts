import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { MASK, maskPayload } from "../../src/app/(account)/admin/webhooks/[id]/mask-payload.ts";
import { loadFixture } from "../fixtures/fixture.ts";

const FIXTURES = new URL("../fixtures/", import.meta.url);
const FORMATS = ["stripe", "paddle", "polar", "lemon-squeezy"] as const;
const FILES = FORMATS.flatMap((format) =>
  readdirSync(new URL(format, FIXTURES)).map((file) => [format, file.replace(/\.json$/, "")] as const),
);

/** The personal data in the fixtures: name, address, post code, card, IP address. */
const PERSONAL = /User Zero|user_0@|10115|"4242"|visa|192\.0\.2\.1|avatar\.png|"DE"/;

function read(format: string, name: string): unknown {
  return JSON.parse(readFileSync(new URL(`${format}/${name}.json`, FIXTURES), "utf8"));
}

describe.each(FILES)("a payload of %s, %s", (format, name) => {
  const payload = read(format, name);
  const masked = JSON.stringify(maskPayload(payload));

  it("contains nothing personal after masking", () => {
    expect(PERSONAL.exec(masked)?.[0]).toBeUndefined();
  });

  it("keeps ids, statuses, times and prices", () => {
    expect(keptOf(payload).filter((value) => !masked.includes(JSON.stringify(value)))).toEqual([]);
  });
});

describe("the fixtures' personal data", () => {
  it("is present before masking, in every format", () => {
    for (const format of FORMATS) {
      const texts = FILES.filter(([owner]) => owner === format).map(([, name]) =>
        JSON.stringify(read(format, name)),
      );
      expect(texts.some((text) => PERSONAL.test(text))).toBe(true);
    }
  });
});

describe("maskPayload", () => {
  it.each<[what: string, payload: object, gone: readonly string[]]>([
    ["an email address, wherever it is", { reference: "for-ada@example.com" }, ["ada@"]],
    ["an email address in a link", { link: "https://shop.example/to/ada%40example.com" }, ["ada%40"]],
    ["an email address as a key", { "ada@example.com": 1 }, ["ada@"]],
    ["a name", { customer: { id: "cus_1", name: "Lovelace" } }, ["Lovelace"]],
    [
      "what somebody has written in one word",
      { cancellation_details: { comment: "Lovelace" } },
      ["Lovelace"],
    ],
    ["what somebody has written in several", { reason: "Moved to Lovelace Street" }, ["Lovelace"]],
    ["letters that ids do not have", { hint: "Žofia" }, ["Žofia"]],
    [
      "an address",
      { shipping_address: { line1: "Lovelaces", country: "DE", lines: ["x", 5] } },
      ['"DE"', "Lovelaces", '"x"', "5"],
    ],
    ["a number to call", { reach: "+49 30 901820" }, ["901820"]],
    ["a number to call, written together", { reach: "+4930901820" }, ["901820"]],
    ["a number to call within the country", { reach: "(030)901820" }, ["901820"]],
    ["a number to call as they are written elsewhere", { reach: "415-555-0132" }, ["0132"]],
    ["a number to pay by", { source: "4242 4242 4242 4242" }, ["4242"]],
    ["a number to pay by, as a number", { source: 4242424242424242 }, ["4242"]],
    [
      "the end of a card's number",
      { payment: { card: { last4: "0005", exp_year: 2031 } } },
      ["0005", "2031"],
    ],
    ["a machine's address", { seen_from: "2001:db8:0:0::1" }, ["db8"]],
    ["what a shop has asked for", { custom_fields: [{ key: "dog", text: { value: "Rex" } }] }, ["Rex"]],
    ["what a shop has written down", { metadata: { userId: "user_1", team: "Lovelace" } }, ["Lovelace"]],
    ["what a key holds that is too long", { [`${"address".repeat(5_000)}fields`]: "active" }, ["active"]],
    ["a tax id", { customer_tax_id: "DE123" }, ["DE123"]],
    [
      "what lets somebody in",
      { client_secret: "c0ffee", url: "https://pay.example/p?signature=c0ffee" },
      ["c0ffee"],
    ],
  ])("masks %s", (_, payload, secrets) => {
    const masked = JSON.stringify(maskPayload(payload));
    expect(masked).toContain(MASK);
    for (const secret of secrets) expect(masked).not.toContain(secret);
  });

  it("keeps the payload's shape", () => {
    const { body } = loadFixture("stripe", "checkout.session.completed");
    expect(shape(maskPayload(body))).toEqual(shape(body));
  });

  it("keeps names and descriptions of products", () => {
    const product = {
      product: { name: "Pro, yearly", description: "Everything in Free." },
      product_name: "Pro X",
    };
    expect(maskPayload(product)).toEqual(product);
  });

  it("keeps statuses and times that are written with spaces", () => {
    const payload = { attributes: { status_formatted: "On Trial", paid: "2026-03-01 13:00:00 +0100" } };
    expect(maskPayload(payload)).toEqual(payload);
  });

  it("does not modify its input", () => {
    const payload = { customer: { email: "ada@example.com" } };
    maskPayload(payload);
    expect(payload).toEqual({ customer: { email: "ada@example.com" } });
  });
});

const KEPT =
  /^(id|event_id|event_name|type|event_type|status|state|customer|customer_id|subscription|subscription_id|price_id|product_id|variant_id|userId|planId|currency|amount|unit_amount|quantity|created_at|updated_at|occurred_at|current_period_end|ends_at|renews_at|billing_reason|cancel_at_period_end)$/;

function keptOf(value: unknown, key = ""): unknown[] {
  if (typeof value !== "object" || value === null) return KEPT.test(key) ? [value] : [];
  // There, "state" is part of an address, and "type" part of a card.
  if (/address|^card$/.test(key)) return [];
  return Object.entries(value).flatMap(([name, nested]) => keptOf(nested, Array.isArray(value) ? key : name));
}

function shape(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shape);
  if (typeof value !== "object" || value === null) return null;
  return Object.fromEntries(Object.entries(value).map(([key, nested]) => [key, shape(nested)]));
}
