import { expect, it } from "vitest";
import { fixtureDelivery } from "../fixtures/fixture.ts";
import { freshServer } from "../support/fresh-server.ts";
import { sendRequest } from "../support/http.ts";
import { SECRETS } from "../support/variables.ts";

const { server } = freshServer({ users: 3 });

function delivery(eventId: string) {
  return fixtureDelivery("stripe", "customer.subscription.created", {
    secret: SECRETS["provider-a"],
    nowSeconds: Math.floor(Date.now() / 1000),
    eventId,
    subscriptionId: eventId,
    userId: "user_1",
    planId: "pro",
  });
}

/** A body without an announced length is left to the app. */
const THROUGH_THE_APP = { "transfer-encoding": "chunked" };

async function responses(path: string, eventId: string, changed: Record<string, string> = {}) {
  const responseOf = async (id: string, more: Record<string, string>) => {
    const { rawBody, headers } = delivery(id);
    const options = { body: rawBody, headers: { ...headers, ...changed, ...more } };
    const { status, body, headers: responseHeaders } = await sendRequest(server.url, "POST", path, options);
    const { date: _, "x-request-id": requestId, ...others } = Object.fromEntries(responseHeaders);
    expect(requestId).toMatch(/^[0-9a-f-]{36}$/);
    return { status, body, headers: others };
  };
  return {
    direct: await responseOf(`${eventId}-direct`, {}),
    app: await responseOf(`${eventId}-app`, THROUGH_THE_APP),
  };
}

it.each(["/api/webhooks/provider-a", "/api/v1/webhooks/provider-a", "/api/v2/webhooks/provider-a"])(
  "answers %s with the headers of the app",
  async (path) => {
    const { direct, app } = await responses(path, path.slice(5));
    expect(direct).toMatchObject({ status: 200, body: { received: true } });
    expect(direct).toEqual(app);
  },
);

it("answers a wrong signature as the app does", async () => {
  const { direct, app } = await responses("/api/webhooks/provider-a", "unsigned", {
    "stripe-signature": "t=1,v1=00",
  });
  expect(direct).toMatchObject({ status: 400, body: { error: "Invalid signature" } });
  expect(direct).toEqual(app);
});

it("refuses an invalid Host, as the app does", async () => {
  const { direct, app } = await responses("/api/webhooks/provider-a", "host", { host: "no host" });
  expect(direct).toMatchObject({ status: 400, body: { error: "Bad request" } });
  expect(direct).toEqual(app);
});

it.each(["v2", "v9"])("applies X-API-Version: %s", async (version) => {
  const { direct, app } = await responses("/api/webhooks/provider-a", version, { "x-api-version": version });
  expect(direct.status).toBe(version === "v2" ? 200 : 400);
  expect(direct).toEqual(app);
});

it("ignores X-API-Version where the path has one", async () => {
  const { direct, app } = await responses("/api/v2/webhooks/provider-a", "both", { "x-api-version": "v9" });
  expect(direct.status).toBe(200);
  expect(direct.headers["x-api-version"]).toBe("v2");
  expect(direct).toEqual(app);
});
