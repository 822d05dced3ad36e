import fc from "fast-check";
import { Hono } from "hono";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { answerError } from "../../src/http/error-response.ts";
import type { HonoEnv } from "../../src/http/hono-env.ts";
import { inspectJson } from "../../src/http/inspect-json.ts";
import { readJson } from "../../src/http/read-json.ts";
import { listen, sendRequest } from "../support/http.ts";
import { openRawConnection } from "../support/raw-connection.ts";

describe("a JSON body", () => {
  const defects: unknown[] = [];
  let server: Awaited<ReturnType<typeof listen>>;
  beforeAll(async () => {
    const app = new Hono<HonoEnv>();
    app.post("/", async (c) => c.json(await readJson(c.env.incoming)));
    app.post("/small", async (c) => c.json(await readJson(c.env.incoming, 10)));
    app.onError((error, c) => answerError(c, error, (defect) => defects.push(defect)));
    server = await listen(app);
  });
  afterAll(() => server.close());

  const JSON_TYPE = { "Content-Type": "application/json" };
  const post = (body: string | Buffer, headers: Record<string, string> = JSON_TYPE, path = "/") =>
    sendRequest(server.url, "POST", path, { headers: { "content-type": undefined, ...headers }, body });

  it.each([
    ["an object", '{"name":"Ann","tags":[1,null,true],"deep":{"a":{"b":"é"}}}'],
    ["no fields", "{}"],
    ["white space", ' \n\t{ "a" : 1 } '],
    ["brackets, colons and quotes in text", '{"a":"[{[{\\"]]}:,\\\\","b:":"\\\\"}'],
    ["escapes", '{"\\u0061":"\\ud83d\\ude00"}'],
    ["the same name in two objects", '{"a":{"x":1},"b":{"x":2},"c":[{"x":1},{"x":2}]}'],
    ["a field called constructor", '{"constructor":"x","prototype":{}}'],
    ["twenty levels", nested(19)],
  ])("is accepted: %s", async (_, text) => {
    const response = await post(text);
    expect(response).toMatchObject({ status: 200 });
    expect(response.body).toEqual(JSON.parse(text));
  });

  it.each([
    ["none", "", {}],
    ["none, chunked", "", { "Transfer-Encoding": "chunked" }],
    ["none, of another type", "", { "Content-Type": "text/plain" }],
  ])("is an empty object when there is %s", async (_, text, headers) => {
    expect(await post(text, headers)).toMatchObject({ status: 200, text: "{}" });
  });

  it.each([
    ["application/json; charset=utf-8"],
    ["Application/JSON"],
    ["application/json ;charset=UTF-8"],
    ['application/json; Charset="Utf-8"'],
    ["application/json; profile=x; charset=utf8"],
    ["application/json; xcharset=latin1"],
  ])("is accepted with the content type %s", async (type) => {
    expect(await post('{"a":1}', { "Content-Type": type })).toMatchObject({ status: 200, text: '{"a":1}' });
  });

  const SEND_JSON = "expected a JSON body: send it with Content-Type: application/json";

  it.each([
    ["no type", {}, "{}", SEND_JSON],
    ["a form", { "Content-Type": "application/x-www-form-urlencoded" }, "a=1", SEND_JSON],
    ["text, as a page elsewhere may send it", { "Content-Type": "text/plain" }, "{}", SEND_JSON],
    ["text that speaks of JSON", { "Content-Type": "text/plain; application/json" }, "{}", SEND_JSON],
    ["another JSON", { "Content-Type": "application/jsonp" }, "{}", SEND_JSON],
    ["two types", { "Content-Type": "text/plain, application/json" }, "{}", SEND_JSON],
    ["another encoding", { "Content-Type": "application/json; charset=latin1" }, "{}", SEND_JSON],
    ["another encoding, quoted", { "Content-Type": 'application/json;charset="UTF-16"' }, "{}", SEND_JSON],
    ["two encodings", { "Content-Type": "application/json;charset=utf-8;charset=utf-7" }, "{}", SEND_JSON],
    ["an encoding without a name", { "Content-Type": "application/json; charset=" }, "{}", SEND_JSON],
    ["compression", { ...JSON_TYPE, "Content-Encoding": "gzip" }, "{}", /without Content-Encoding/],
    ["bytes that are not UTF-8", JSON_TYPE, Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), /UTF-8/],
    ["an overlong slash", JSON_TYPE, Buffer.from([0x7b, 0x22, 0xc0, 0xaf, 0x22, 0x7d]), /UTF-8/],
    ["a surrogate in UTF-8", JSON_TYPE, Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), /UTF-8/],
    ["UTF-16", JSON_TYPE, Buffer.from('{"a":1}', "utf16le"), /valid JSON/],
    ["a byte order mark", JSON_TYPE, "\ufeff{}", /byte order mark/],
    ["not JSON", JSON_TYPE, "{a:1}", /valid JSON/],
    ["half of it", JSON_TYPE, '{"a":', /valid JSON/],
    ["more than one value", JSON_TYPE, "{} {}", /valid JSON/],
    ["an open string", JSON_TYPE, '{"a":"\\', /valid JSON/],
    ["white space alone", JSON_TYPE, "  ", /valid JSON/],
    ["a list", JSON_TYPE, "[]", /a JSON object/],
    ["null", JSON_TYPE, "null", /a JSON object/],
    ["a number", JSON_TYPE, "1", /a JSON object/],
    ["text", JSON_TYPE, '"{}"', /a JSON object/],
    ["one level too many", JSON_TYPE, nested(20), /nested at most 20 deep/],
    ["a bomb of lists", JSON_TYPE, "[".repeat(60_000), /nested at most 20 deep/],
    ["a bomb of objects", JSON_TYPE, '{"a":'.repeat(12_000), /nested at most 20 deep/],
    ["a field twice", JSON_TYPE, '{"role":"user","role":"admin"}', /a field twice/],
    ["a field twice, once encoded", JSON_TYPE, '{"role":"user","r\\u006fle":"admin"}', /a field twice/],
    ["a field twice, further in", JSON_TYPE, '{"a":[{"b":1,"b":2}]}', /a field twice/],
    ["a field twice whose first value is large", JSON_TYPE, '{"a":{"b":1,"c":2},"a":1}', /a field twice/],
    ["__proto__", JSON_TYPE, '{"__proto__":{"role":"admin"}}', /__proto__: unknown field/],
    ["__proto__, further in", JSON_TYPE, '{"a":[{"__proto__":1}]}', /__proto__/],
    ["__proto__, encoded", JSON_TYPE, '{"\\u005f_proto__":{}}', /__proto__/],
    [
      "the other way to a prototype",
      JSON_TYPE,
      '{"constructor":{"prototype":{"x":1}}}',
      /constructor\.prototype/,
    ],
    ["NUL", JSON_TYPE, '{"name":"a\\u0000b"}', /NUL/],
    ["NUL in a name", JSON_TYPE, '{"a\\u0000b":1}', /NUL/],
    ["half a character", JSON_TYPE, '{"name":"\\ud800"}', /surrogates/],
  ])("is rejected with a sentence: %s", async (_, headers, body, sentence) => {
    const response = await post(body, headers as Record<string, string>);
    expect(response.status).toBe(400);
    const { error, ...rest } = response.body;
    expect(error).toMatch(sentence);
    expect(rest).toEqual({});
  });

  it("is rejected while it streams in when it is too large", async () => {
    const large = `{"a":"${"x".repeat(70_000)}"}`;
    for (const headers of [JSON_TYPE, { ...JSON_TYPE, "Transfer-Encoding": "chunked" }]) {
      const response = await post(large, headers as Record<string, string>);
      expect(response.status).toBe(413);
      expect(response.body).toEqual({ error: "expected a body of at most 65536 bytes" });
    }
    expect((await post('{"a":1234}', JSON_TYPE, "/small")).status).toBe(200);
    expect((await post('{"a":12345}', JSON_TYPE, "/small")).status).toBe(413);
  });

  it("is rejected before it arrives when its Content-Length is too large", async () => {
    const { socket, closed } = openRawConnection(
      server.url,
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99999999\r\n\r\n{",
    );
    socket.once("data", () => socket.destroy());
    expect(await closed).toMatch(/^HTTP\/1\.1 413 /);
  });

  it("does not log a body that is cut off as an internal error", async () => {
    const { socket, closed } = openRawConnection(
      server.url,
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
    );
    setTimeout(() => socket.destroy(), 50);
    await closed;
    expect((await post("{}")).status).toBe(200);
  });

  it("reads a body with the maximum number of fields or the longest name", async () => {
    const fields = Object.fromEntries(Array.from({ length: 6_000 }, (_, i) => [`f${i}`, 1]));
    expect((await post(JSON.stringify(fields))).status).toBe(200);
    expect((await post(JSON.stringify({ ["k".repeat(60_000)]: 1 }))).status).toBe(200);
  });

  it("causes no internal error in any of these tests", () => {
    expect(defects).toEqual([]);
    expect(({} as Record<string, unknown>).role).toBeUndefined();
  });

  it("is parsed as JSON.parse parses it", () => {
    fc.assert(
      fc.property(
        fc.object({
          values: [fc.string({ unit: "grapheme" }), fc.double(), fc.boolean(), fc.constant(null)],
        }),
        (value) => {
          const text = JSON.stringify(value);
          if (/__proto__|constructor|prototype|\\u/.test(text)) return;
          expect(inspectJson(Buffer.from(text))).toEqual(JSON.parse(text));
        },
      ),
    );
  });

  it("is either parsed or rejected, for any bytes", () => {
    const piece = fc.constantFrom(
      "{",
      "}",
      "[",
      "]",
      '"',
      ":",
      ",",
      "\\",
      "a",
      "1",
      " ",
      '"a":',
      "null",
      "\\u0000",
    );
    fc.assert(
      fc.property(fc.string({ unit: piece }), (text) => {
        try {
          inspectJson(Buffer.from(text));
        } catch (error) {
          expect(error).toMatchObject({ name: "Refusal", code: "invalid_input" });
        }
      }),
      { numRuns: 5_000 },
    );
  });
});

/** An object that holds so many lists, one in the other. */
function nested(lists: number): string {
  return `{"a":${"[".repeat(lists)}${"]".repeat(lists)}}`;
}
