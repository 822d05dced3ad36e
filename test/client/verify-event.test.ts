import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import { EventVerificationError, verifyEvent } from "../../clients/typescript/src/verify-event.ts";
import { newEndpointSecret, signedHeaders } from "../../src/outbound/sign.ts";

const NOW = new Date("2026-05-06T07:08:09.500Z");
const SECRET = newEndpointSecret();
const OTHER_SECRET = newEndpointSecret();
const EVENT = {
  id: "evt_1",
  type: "user.deleted",
  occurredAt: "2026-05-06T07:08:00.000Z",
  version: "v2",
  data: { id: "user_1", externalId: "Zoë" },
};
const BODY = JSON.stringify(EVENT);

function headers({ secrets = [SECRET], id = "evt_1", body = BODY, ageSeconds = 0 } = {}) {
  const timestampSeconds = Math.floor(NOW.getTime() / 1000) - ageSeconds;
  return signedHeaders(body, { id, timestampSeconds, secrets });
}

async function problemOf(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => null,
    (reason) => reason,
  );
  expect(error).toBeInstanceOf(EventVerificationError);
  return (error as EventVerificationError).problem;
}

describe("verifyEvent", () => {
  it("returns the event of a request that Tollgate has signed", async () => {
    expect(await verifyEvent(BODY, headers(), SECRET, { now: NOW })).toEqual(EVENT);
    const bytes = new TextEncoder().encode(BODY);
    expect(await verifyEvent(bytes, new Headers(headers()), [SECRET], { now: NOW })).toEqual(EVENT);
  });

  it("agrees with the library of Standard Webhooks", async () => {
    const now = new Date();
    const signature = new Webhook(SECRET).sign("evt_1", now, BODY);
    const sent = {
      "Webhook-Id": "evt_1",
      "Webhook-Timestamp": String(Math.floor(now.getTime() / 1000)),
      "Webhook-Signature": ["v1a,AAAA", signature].join(" "),
    };
    expect(await verifyEvent(BODY, sent, SECRET)).toEqual(EVENT);
    const svix = Object.fromEntries(
      Object.entries(sent).map(([name, value]) => [name.replace("Webhook", "Svix"), value]),
    );
    expect(await verifyEvent(BODY, svix, SECRET)).toEqual(EVENT);
  });

  it("takes the first of repeated headers, which Node lists", async () => {
    const listed = Object.fromEntries(Object.entries(headers()).map(([name, value]) => [name, [value, "x"]]));
    expect(await verifyEvent(BODY, listed, SECRET, { now: NOW })).toEqual(EVENT);
  });

  it("accepts either secret while one is replaced, on both sides", async () => {
    const signedTwice = headers({ secrets: [OTHER_SECRET, SECRET] });
    for (const secret of [SECRET, OTHER_SECRET])
      expect(await verifyEvent(BODY, signedTwice, secret, { now: NOW })).toEqual(EVENT);
    const receivers = [OTHER_SECRET, SECRET];
    expect(await verifyEvent(BODY, headers(), receivers, { now: NOW })).toEqual(EVENT);
  });

  it.each([
    ["another secret", BODY, headers({ secrets: [OTHER_SECRET] }), "signature"],
    ["another body", BODY.replace("user_1", "user_2"), headers(), "signature"],
    ["another id", BODY, { ...headers(), "webhook-id": "evt_2" }, "signature"],
    ["no signature of version 1", BODY, { ...headers(), "webhook-signature": "v2,AAAA v1" }, "signature"],
    ["a signature that is not base64", BODY, { ...headers(), "webhook-signature": "v1,%%" }, "signature"],
    ["a missing header", BODY, { ...headers(), "webhook-id": "" }, "missing_header"],
    ["no headers", BODY, {}, "missing_header"],
    ["a timestamp that is none", BODY, { ...headers(), "webhook-timestamp": "1e9" }, "timestamp"],
    ["a signed body that is not JSON", "{", headers({ body: "{" }), "body"],
    ["the body of another event", BODY, headers({ id: "evt_2" }), "body"],
    ["a signed body that is no event", '{"id":"evt_1"}', headers({ body: '{"id":"evt_1"}' }), "body"],
  ])("rejects %s", async (_what, body, sent, problem) => {
    expect(await problemOf(verifyEvent(body, sent, SECRET, { now: NOW }))).toBe(problem);
  });

  it("rejects what is older or newer than the tolerance", async () => {
    const verify = (ageSeconds: number, toleranceSeconds?: number) =>
      verifyEvent(BODY, headers({ ageSeconds }), SECRET, {
        now: new Date(NOW.getTime() + 499),
        ...(toleranceSeconds === undefined ? {} : { toleranceSeconds }),
      });
    expect(await verify(300)).toEqual(EVENT);
    expect(await verify(-300)).toEqual(EVENT);
    expect(await problemOf(verify(301))).toBe("timestamp");
    expect(await problemOf(verify(-301))).toBe("timestamp");
    expect(await verify(900, 1000)).toEqual(EVENT);
  });

  it.each([
    ["parsed", EVENT],
    ["an ArrayBuffer", new TextEncoder().encode(BODY).buffer],
    ["missing", undefined],
  ])("throws a plain error that names what to pass where the body is %s", async (_name, body) => {
    const error = await verifyEvent(body as never, headers(), SECRET, { now: NOW }).catch((reason) => reason);
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toMatch(/exactly as received, not parsed: express\.raw/);
  });

  it("takes a stranger's request without headers for one, whatever a framework has made of its body", async () => {
    const strange = verifyEvent({} as never, {}, SECRET, { now: NOW });
    await expect(strange).rejects.toBeInstanceOf(EventVerificationError);
  });

  it("throws a plain error for a malformed secret", async () => {
    await expect(verifyEvent(BODY, headers(), "whsec_", { now: NOW })).rejects.toThrow(
      "a signing secret is whsec_ and base64",
    );
  });
});
