import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { ADAPTERS } from "../../src/providers/registry.ts";
import { requestOf, verifying } from "./request.ts";

describe("the providers' published vectors verify", () => {
  test("paddle", () => {
    const mac = "a300428748dce5c70e4da19bffd60769591ea969c99dea3105d0ec9612cf43f9";
    const request = requestOf('{"data": ["1", "2"]}', { "paddle-signature": `ts=1698796800;h1=${mac}` });
    expect(ADAPTERS.of("paddle").verify(request, verifying("VALID_SECRET", 1698796800))).toBeNull();
  });

  test.each([
    ["decoded key", "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="],
    ["the whole secret as key", "TcxlhK9b6UD6iVI1ZU2tTqp8PEVfYRseNNfa6b+LcUg="],
  ])("Standard Webhooks, %s", (_key, mac) => {
    const request = requestOf('{"test": 2432232314}', {
      "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "webhook-timestamp": "1614265330",
      "webhook-signature": `v1,${mac}`,
    });
    const options = verifying("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", 1614265330);
    expect(ADAPTERS.of("polar").verify(request, options)).toBeNull();
  });

  test("stripe", () => {
    const mac = "799c4ba7bb339f3c8601adfd112f0e477c930a268be1243d341abb8286501c2f";
    const request = requestOf('{"id":"evt_1"}', { "stripe-signature": `t=1492774577,v1=${mac}` });
    expect(ADAPTERS.of("stripe").verify(request, verifying("whsec_test_secret", 1492774577))).toBeNull();
  });

  test("lemon-squeezy", () => {
    const mac = "73027d8cd8df4ce91f765d3f267511994ff56a004cb31d60f3d58726968a8f84";
    const request = requestOf('{"meta":{}}', { "x-signature": mac });
    expect(ADAPTERS.of("lemon-squeezy").verify(request, verifying("secret123", 0))).toBeNull();
  });
});

describe("sign sends the headers of the same vectors", () => {
  const options = { eventId: "msg_p5jXN8AQM9LWM0D4loKWxJek", eventType: "order_created" };

  test("paddle", () => {
    const rawBody = Buffer.from('{"data": ["1", "2"]}');
    const signing = { ...options, secret: "VALID_SECRET", nowSeconds: 1698796800 };
    expect(ADAPTERS.of("paddle").sign(rawBody, signing)).toEqual({
      "paddle-signature": "ts=1698796800;h1=a300428748dce5c70e4da19bffd60769591ea969c99dea3105d0ec9612cf43f9",
    });
  });

  test("polar, with the decoded key", () => {
    const rawBody = Buffer.from('{"test": 2432232314}');
    const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    expect(ADAPTERS.of("polar").sign(rawBody, { ...options, secret, nowSeconds: 1614265330.9 })).toEqual({
      "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "webhook-timestamp": "1614265330",
      "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    });
  });

  test("stripe", () => {
    const rawBody = Buffer.from('{"id":"evt_1"}');
    const signing = { ...options, secret: "whsec_test_secret", nowSeconds: 1492774577 };
    expect(ADAPTERS.of("stripe").sign(rawBody, signing)).toEqual({
      "stripe-signature": "t=1492774577,v1=799c4ba7bb339f3c8601adfd112f0e477c930a268be1243d341abb8286501c2f",
    });
  });

  test("lemon-squeezy", () => {
    const rawBody = Buffer.from('{"meta":{}}');
    expect(
      ADAPTERS.of("lemon-squeezy").sign(rawBody, { ...options, secret: "secret123", nowSeconds: 0 }),
    ).toEqual({
      "x-signature": "73027d8cd8df4ce91f765d3f267511994ff56a004cb31d60f3d58726968a8f84",
      "x-event-name": "order_created",
    });
  });
});

describe("a signature computed without the adapter verifies", () => {
  const rawBody = Buffer.from(JSON.stringify({ text: "Zoë, 東京, \u{1f600}" }));
  const now = 1_772_366_400;
  const hmac = (key: string | Buffer, prefix: string) =>
    createHmac("sha256", key).update(Buffer.concat([Buffer.from(prefix), rawBody]));

  test.each([
    ["stripe", { "stripe-signature": `t=${now},v1=${hmac("secret_1", `${now}.`).digest("hex")}` }],
    ["paddle", { "paddle-signature": `ts=${now};h1=${hmac("secret_1", `${now}:`).digest("hex")}` }],
    [
      "polar",
      {
        "webhook-id": "msg_1",
        "webhook-timestamp": `${now}`,
        "webhook-signature": `v1,${hmac("secret_1", `msg_1.${now}.`).digest("base64")}`,
      },
    ],
    ["lemon-squeezy", { "x-signature": hmac("secret_1", "").digest("hex") }],
  ] as const)("%s", (format, headers) => {
    const request = requestOf(rawBody, headers as Record<string, string>);
    expect(ADAPTERS.of(format).verify(request, verifying("secret_1", now))).toBeNull();
  });
});
