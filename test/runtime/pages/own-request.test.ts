import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { describe, expect, it } from "vitest";
import { addressOfOwn, markAsOwn } from "../../../src/runtime/pages/own-request.ts";

const requestWith = (headers: IncomingHttpHeaders) => ({ headers }) as IncomingMessage;

describe("a page that Next.js fetches", () => {
  it.each(["192.0.2.7", "2001:db8::/64", "unknown"])("counts for the client's address, %s", (address) => {
    const original = requestWith({});
    markAsOwn(original, address);
    expect(addressOfOwn(requestWith({ ...original.headers, "x-forwarded-for": "127.0.0.1" }))).toBe(address);
  });

  it.each([{}, { "x-tollgate-self": "" }, { "x-tollgate-self": `${"A".repeat(32)} 192.0.2.7` }])(
    "is not recognized by the headers %j",
    (headers) => {
      expect(addressOfOwn(requestWith(headers))).toBeNull();
    },
  );
});
