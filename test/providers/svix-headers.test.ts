import { expect, it } from "vitest";
import { polar } from "../../src/providers/polar/webhook.ts";
import { requestOf } from "./request.ts";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const BODY = '{"type":"subscription.updated","data":{}}';
const OPTIONS = { secrets: [SECRET], nowSeconds: 1_800_000_000, toleranceSeconds: 300 };
const signed = polar.sign(Buffer.from(BODY), {
  secret: SECRET,
  nowSeconds: OPTIONS.nowSeconds,
  eventId: "msg_1",
  eventType: "subscription.updated",
});
const svix = Object.fromEntries(
  Object.entries(signed).map(([name, value]) => [name.replace("webhook", "svix"), value]),
);

it("accepts Svix's names of the Standard Webhooks headers", () => {
  const request = requestOf(BODY, svix);
  expect(polar.verify(request, OPTIONS)).toBeNull();
  expect(polar.identify(request, JSON.parse(BODY))).toEqual({
    eventId: "msg_1",
    eventType: "subscription.updated",
  });
});

it("takes the id from the set of headers that was verified", () => {
  const request = requestOf(BODY, { ...svix, "webhook-id": "msg_forged" });
  expect(polar.verify(request, OPTIONS)).toBeNull();
  expect(polar.identify(request, JSON.parse(BODY)).eventId).toBe("msg_1");
  expect(polar.verify(requestOf(BODY, { ...svix, "webhook-signature": "v1,x" }), OPTIONS)).not.toBeNull();
});
