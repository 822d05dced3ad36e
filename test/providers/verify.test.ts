import { describe, expect, test } from "vitest";
import type { WireFormat } from "../../src/providers/adapter.ts";
import { ADAPTERS, wireFormats } from "../../src/providers/registry.ts";
import { loadFixture, signedDelivery } from "../fixtures/fixture.ts";
import { requestOf, verifying } from "./request.ts";

const NOW = 1_772_366_400;
const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const TIMED = ["stripe", "paddle", "polar"] as const;

const delivered = (format: WireFormat, secret = SECRET, nowSeconds = NOW) =>
  signedDelivery(format, loadFixture(format, "customer.subscription.updated").body, { secret, nowSeconds });

describe.each(wireFormats())("%s", (format) => {
  const { verify } = ADAPTERS.of(format);
  const { rawBody, headers } = delivered(format);

  test("accepts a signature by any configured secret", () => {
    const request = requestOf(rawBody, headers);
    expect(verify(request, verifying(SECRET, NOW))).toBeNull();
    expect(verify(request, verifying(["another secret", SECRET], NOW))).toBeNull();
    expect(verify(request, verifying([SECRET, "another secret"], NOW))).toBeNull();
  });

  test("rejects every other secret, and an empty list", () => {
    const request = requestOf(rawBody, headers);
    const problem = "no signature matches a secret";
    expect(verify(request, verifying(["another secret", `${SECRET}A`, SECRET.slice(1)], NOW))).toBe(problem);
    expect(verify(request, verifying([], NOW))).toBe(problem);
  });

  test("refuses a signature under an empty key", () => {
    const { rawBody, headers } = delivered(format, "");
    expect(verify(requestOf(rawBody, headers), verifying("", NOW))).toBe("no signature matches a secret");
  });

  test("refuses a body with any one bit flipped", () => {
    const options = verifying(SECRET, NOW);
    for (let bit = 0; bit < rawBody.length * 8; bit += 7) {
      const flipped = Buffer.from(rawBody);
      flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      expect(verify(requestOf(flipped, headers), options)).toBe("no signature matches a secret");
    }
  });

  test("refuses a shortened, a lengthened and an empty body", () => {
    for (const body of [
      rawBody.subarray(1),
      rawBody.subarray(0, -1),
      Buffer.concat([rawBody, rawBody]),
      "",
    ]) {
      expect(verify(requestOf(Buffer.from(body), headers), verifying(SECRET, NOW))).toBe(
        "no signature matches a secret",
      );
    }
  });

  test("refuses a delivery without its headers", () => {
    expect(verify(requestOf(rawBody, {}), verifying(SECRET, NOW))).toBe("header missing");
    for (const name of Object.keys(headers).filter((name) => !/^content-type|x-event-name/.test(name))) {
      const { [name]: _left, ...others } = headers;
      expect(verify(requestOf(rawBody, others), verifying(SECRET, NOW))).toBe("header missing");
      expect(verify(requestOf(rawBody, { ...headers, [name]: "" }), verifying(SECRET, NOW))).toBe(
        "header missing",
      );
    }
  });

  test("refuses a header of many kilobytes unread", () => {
    for (const name of Object.keys(headers).filter((name) => !/^content-type|x-event-name/.test(name))) {
      const huge = { ...headers, [name]: `${headers[name]}${",;= v1".repeat(1000)}` };
      expect(verify(requestOf(rawBody, huge), verifying(SECRET, NOW))).toBe("header malformed");
    }
  });
});

describe.each(TIMED)("%s timestamps", (format) => {
  const { verify } = ADAPTERS.of(format);

  test("are accepted up to the tolerance on both sides, and refused one second past it", () => {
    const { rawBody, headers } = delivered(format);
    const request = requestOf(rawBody, headers);
    for (const [now, problem] of [
      [NOW + 300, null],
      [NOW - 300, null],
      [NOW + 301, "timestamp outside tolerance"],
      [NOW - 301, "timestamp outside tolerance"],
    ] as const) {
      expect(verify(request, verifying(SECRET, now))).toBe(problem);
    }
  });

  test("are compared by whole seconds, as they are sent", () => {
    const { rawBody, headers } = delivered(format);
    const request = requestOf(rawBody, headers);
    expect(verify(request, verifying(SECRET, NOW + 300.999))).toBeNull();
    expect(verify(request, verifying(SECRET, NOW + 0.999, 0))).toBeNull();
    expect(verify(request, verifying(SECRET, NOW - 300.001))).toBe("timestamp outside tolerance");
  });

  test("must be exact when the tolerance is zero", () => {
    const { rawBody, headers } = delivered(format);
    expect(verify(requestOf(rawBody, headers), verifying(SECRET, NOW, 0))).toBeNull();
    expect(verify(requestOf(rawBody, headers), verifying(SECRET, NOW + 1, 0))).toBe(
      "timestamp outside tolerance",
    );
  });

  test.each([
    "-1772366400",
    "+1772366400",
    "1772366400.0",
    "1.7723664e9",
    "0x69a42bc0",
    "1772366400s",
    "١٧٧٢٣٦٦٤٠٠",
    "NaN",
    "Infinity",
    "1772366400 1772366400",
    "1".repeat(16),
    "9".repeat(400),
  ])("are refused unless they are digits: %s", (timestamp) => {
    const { rawBody, headers } = delivered(format);
    expect(verify(requestOf(rawBody, retimed(headers, timestamp)), verifying(SECRET, NOW))).toBe(
      "header malformed",
    );
  });

  test("are part of the signed content", () => {
    const { rawBody, headers } = delivered(format);
    const options = verifying(SECRET, NOW);
    expect(verify(requestOf(rawBody, retimed(headers, String(NOW + 1))), options)).toBe(
      "no signature matches a secret",
    );
    expect(verify(requestOf(rawBody, retimed(headers, `0${NOW}`)), options)).toBe(
      "no signature matches a secret",
    );
  });
});

function retimed(headers: Record<string, string>, timestamp: string): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, value.replace(String(NOW), timestamp)]),
  );
}
