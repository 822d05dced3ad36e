import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PaymentApi } from "../../../src/domain/providers/payment-api.ts";
import { createPaymentApi } from "../../../src/providers/create-payment-api.ts";
import { ADAPTERS } from "../../../src/providers/registry.ts";
import { loadFixture } from "../../fixtures/fixture.ts";
import { freePort } from "../../support/free-port.ts";
import { type LocalProvider, localProvider } from "./local-provider.ts";
import { FIFTH_PROVIDER_API, KEY, ORDER, PAYER, PROVIDER_APIS, successfulReplies } from "./provider-apis.ts";
import "../../fixtures/fifth-provider.ts";
import { PaymentApiProblem } from "../../../src/domain/providers/payment-api-problem.ts";

// Side by side: most of the time goes to waits between retries. Each has a provider of its own, and its tests
// in order.
const IN_ORDER = { concurrent: false };

describe.concurrent.each([...PROVIDER_APIS, FIFTH_PROVIDER_API])(
  "the API client of $format",
  (providerApi) => {
    const { format, name, subscriptionId } = providerApi;
    let provider: LocalProvider;
    let api: PaymentApi;
    beforeAll(async () => {
      provider = await localProvider();
      api = createPaymentApi({ slot: "provider-a", format, apiKey: KEY, apiUrl: `${provider.url}/` });
    });
    afterAll(() => provider.close());

    it("opens a checkout with user, plan and seats", IN_ORDER, async () => {
      provider.respondWith(successfulReplies(providerApi));
      const checkout = await api.createCheckout(ORDER);
      expect(checkout).toMatchObject({ id: expect.stringMatching(/./), url: providerApi.checkoutUrl });
      const request = provider.requests.at(-1);
      expect(request).toMatchObject({ method: "POST", path: providerApi.checkoutPath });
      expect(request?.headers.authorization).toMatch(new RegExp(`^bearer ${KEY}$`, "i"));
      for (const value of ["user_7", "pro", "21", "3"]) expect(request?.body).toContain(value);
    });

    it("opens the portal by customer id or by subscription id", IN_ORDER, async () => {
      provider.respondWith((incoming) => {
        const reply = successfulReplies(providerApi)(incoming);
        const isSubscription = incoming.method === "GET" && incoming.path === providerApi.subscriptionPath;
        if (!isSubscription || format !== "lemon-squeezy") return reply;
        return {
          body: {
            data: {
              type: "subscriptions",
              id: "50",
              attributes: {
                user_email: ORDER.email,
                urls: { customer_portal: "https://portal.example/squeezy" },
              },
            },
          },
        };
      });
      const byId = await api.openPortal({ ...PAYER, customerId: providerApi.customerId });
      const bySubscription = await api.openPortal({ ...PAYER, providerSubscriptionId: subscriptionId });
      expect(byId.url).toMatch(/^https:\/\/portal\.example\//);
      expect(bySubscription).toEqual(byId);
      await expect(api.openPortal(PAYER)).rejects.toMatchObject({ failure: "missing" });
    });

    it.each(["customer.subscription.updated", "customer.subscription.deleted"])(
      "reads a subscription exactly like its event: %s",
      IN_ORDER,
      async (kind) => {
        provider.respondWith(() => ({ body: providerApi.subscription(kind) }));
        const { body, eventType } = loadFixture(format, kind);
        const event = ADAPTERS.of(format).interpret(eventType, body);
        // Lemon Squeezy names user and plan only in its deliveries, and the time in the subscription itself.
        const ofLemonSqueezy = { userId: null, planId: null, changedAtMicros: event.occurredAtMicros };
        expect(await api.fetchSubscription(subscriptionId)).toEqual({
          ...event,
          ...(format === "lemon-squeezy" ? ofLemonSqueezy : {}),
          kind,
          occurredAtMicros: null,
        });
        expect(provider.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
          `GET ${providerApi.subscriptionPath}`,
        ]);
      },
    );

    it("returns null for an unknown subscription, and cancels it without an error", IN_ORDER, async () => {
      provider.respondWith(() => ({ status: 404, body: providerApi.missing }));
      expect(await api.fetchSubscription(subscriptionId)).toBeNull();
      expect(await api.cancelSubscription(subscriptionId)).toBe("unknown");
      provider.respondWith(() => "hang-up");
      expect(await api.fetchSubscription("../stores")).toBeNull();
      expect(await api.cancelSubscription("..")).toBe("unknown");
      expect(provider.requests).toEqual([]);
    });

    it("cancels a subscription", IN_ORDER, async () => {
      provider.respondWith(successfulReplies(providerApi));
      expect(await api.cancelSubscription(subscriptionId)).toBe("canceled");
      expect(provider.requests.map(({ method, path }) => [method, path])).toEqual([providerApi.cancel]);
    });

    it("accepts a failed cancellation only when the subscription has ended", IN_ORDER, async () => {
      const refusing = (delivery: string) =>
        provider.respondWith(({ method, path }) =>
          method === "GET" && path === providerApi.subscriptionPath
            ? { body: providerApi.subscription(delivery) }
            : providerApi.alreadyOver,
        );
      refusing("customer.subscription.deleted");
      expect(await api.cancelSubscription(subscriptionId)).toBe("canceled");
      refusing("customer.subscription.updated");
      await expect(api.cancelSubscription(subscriptionId)).rejects.toThrow(PaymentApiProblem);
    });

    it("knows whether a price exists", IN_ORDER, async () => {
      provider.respondWith(() => ({ body: { id: "21", object: "price", active: true, data: { id: "21" } } }));
      expect(await api.knowsPrice("21")).toBe(true);
      expect(provider.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
        `GET ${providerApi.pricePath}`,
      ]);
      provider.respondWith(() => ({ status: 404, body: providerApi.missing }));
      expect(await api.knowsPrice("21")).toBe(false);
      const { retiredPrice } = providerApi;
      if (!retiredPrice) return;
      provider.respondWith(() => ({ body: retiredPrice }));
      expect(await api.knowsPrice("21")).toBe(false);
    });

    it("names the variable of a rejected key, not the key", IN_ORDER, async () => {
      provider.respondWith(() => ({ status: 401, body: providerApi.refusal(`Bad key ${KEY}\n given`) }));
      const problem = await problemOf(api.createCheckout(ORDER));
      expect(problem.failure).toBe("unauthorized");
      for (const part of ["provider-a", name, "401", "Bad key (the key) given", "PROVIDER_A_API_KEY"])
        expect(problem.message).toContain(part);
      expect(JSON.stringify([problem.message, problem.stack, problem.cause])).not.toContain(KEY);
      await expect(api.fetchSubscription(subscriptionId)).rejects.toMatchObject({ failure: "unauthorized" });
      await expect(api.cancelSubscription(subscriptionId)).rejects.toMatchObject({ failure: "unauthorized" });
    });

    it("does not send a key that is invalid in a header", IN_ORDER, async () => {
      const broken = createPaymentApi({
        slot: "provider-b",
        format,
        apiKey: `${KEY}\u2026`,
        apiUrl: provider.url,
      });
      provider.respondWith(successfulReplies(providerApi));
      const problem = await problemOf(broken.fetchSubscription(subscriptionId));
      expect(problem).toMatchObject({
        failure: "unauthorized",
        message: expect.stringContaining("PROVIDER_B_API_KEY"),
      });
      expect(problem.message).not.toContain(KEY);
      expect(provider.requests).toEqual([]);
    });

    it("includes the provider's message when it refuses a checkout", IN_ORDER, async () => {
      provider.respondWith((incoming) =>
        incoming.path === providerApi.checkoutPath
          ? { status: 400, body: providerApi.refusal("No such price: 21") }
          : successfulReplies(providerApi)(incoming),
      );
      const problem = await problemOf(api.createCheckout(ORDER));
      expect(problem).toMatchObject({
        failure: "rejected",
        message: expect.stringContaining(`400: "No such price: 21`),
      });
      expect(problem.message).toContain("plans.config.ts");
    });

    it("retries twice when the provider fails or disconnects", IN_ORDER, async () => {
      const answers = [
        { status: 500, body: "oops" },
        "hang-up",
        { body: providerApi.subscription("customer.subscription.updated") },
      ] as const;
      provider.respondWith((_, nth) => answers[nth] ?? "hang-up");
      expect(await api.fetchSubscription(subscriptionId)).toMatchObject({
        kind: "customer.subscription.updated",
      });
      provider.respondWith(() => ({ status: 503, body: providerApi.refusal("Down for a moment") }));
      const problem = await problemOf(api.fetchSubscription(subscriptionId));
      expect(problem).toMatchObject({ failure: "unreachable", message: expect.stringContaining("503") });
      expect(provider.requests).toHaveLength(3);
    });

    it("never opens a second checkout after a lost response", IN_ORDER, async () => {
      for (const reply of [{ status: 502, body: "<html>" }, "hang-up"] as const) {
        provider.respondWith((incoming) =>
          incoming.path === providerApi.checkoutPath ? reply : successfulReplies(providerApi)(incoming),
        );
        await expect(api.createCheckout(ORDER)).rejects.toMatchObject({ failure: "unreachable" });
        const orders = provider.requests.filter(({ path }) => path === providerApi.checkoutPath);
        expect(orders).toHaveLength(providerApi.repeatsCheckouts ? 3 : 1);
        if (providerApi.repeatsCheckouts)
          expect(new Set(orders.map(({ headers }) => headers["idempotency-key"]))).toEqual(
            new Set(["checkout-1"]),
          );
      }
    });

    it("waits for a short Retry-After, and fails all calls during a long one", IN_ORDER, async () => {
      const busy = (seconds: string) => ({
        status: 429,
        headers: { "retry-after": seconds },
        body: providerApi.refusal("Too many requests"),
      });
      provider.respondWith((incoming, nth) =>
        nth === 0 ? busy("1") : successfulReplies(providerApi)(incoming),
      );
      const startedAt = performance.now();
      await api.createCheckout(ORDER);
      expect(performance.now() - startedAt).toBeGreaterThan(990);
      provider.respondWith(() => busy("60"));
      const paused = createPaymentApi({ slot: "provider-a", format, apiKey: KEY, apiUrl: provider.url });
      const problem = await problemOf(paused.createCheckout(ORDER));
      expect(problem).toMatchObject({ failure: "unreachable", retryAfterMs: 60_000 });
      expect(provider.requests).toHaveLength(1);
      // Until it ends, no other request is sent either.
      const next = await problemOf(paused.fetchSubscription(subscriptionId));
      expect(next.failure).toBe("unreachable");
      expect(next.retryAfterMs).toBeGreaterThan(50_000);
      expect(provider.requests).toHaveLength(1);
    });

    it("reports an unreachable provider", IN_ORDER, async () => {
      const nowhere = createPaymentApi({
        slot: "provider-a",
        format,
        apiKey: KEY,
        apiUrl: `http://127.0.0.1:${await freePort()}`,
      });
      const problem = await problemOf(nowhere.fetchSubscription(subscriptionId));
      expect(problem).toMatchObject({
        failure: "unreachable",
        message: expect.stringMatching(/ECONNREFUSED.*PROVIDER_A_API_URL/),
      });
    });

    it("rejects a response from another service", IN_ORDER, async () => {
      provider.respondWith(() => ({
        body: "<html>Welcome</html>",
        headers: { "content-type": "text/html" },
      }));
      await expect(api.fetchSubscription(subscriptionId)).rejects.toMatchObject({ failure: "unreachable" });
      provider.respondWith(() => ({ status: 404, body: "<html>Not here</html>" }));
      const calls = [
        () => api.fetchSubscription(subscriptionId),
        () => api.cancelSubscription(subscriptionId),
        () => api.createCheckout(ORDER),
      ];
      for (const call of calls)
        expect(await problemOf(call())).toMatchObject({
          failure: "rejected",
          message: expect.stringContaining("PROVIDER_A_API_URL"),
        });
      provider.respondWith(() => ({ body: "" }));
      for (const call of calls) expect(await problemOf(call())).toMatchObject({ failure: "unreachable" });
      provider.respondWith(() => ({ body: [1, 2] }));
      await expect(api.createCheckout(ORDER)).rejects.toMatchObject({ failure: "unreachable" });
      provider.respondWith(() => ({ body: {} }));
      await expect(api.createCheckout(ORDER)).rejects.toBeInstanceOf(PaymentApiProblem);
    });

    it("rejects a checkout URL that is not a web page", IN_ORDER, async () => {
      provider.respondWith((incoming) => {
        const reply = successfulReplies(providerApi)(incoming);
        const text = JSON.stringify("body" in (reply as object) ? (reply as { body: object }).body : {});
        return {
          body: text.replace(JSON.stringify(providerApi.checkoutUrl), JSON.stringify("javascript:alert(1)")),
        };
      });
      await expect(api.createCheckout(ORDER)).rejects.toMatchObject({ failure: "unreachable" });
    });

    it("does not follow a redirect", IN_ORDER, async () => {
      const stranger = await localProvider();
      stranger.respondWith(successfulReplies(providerApi));
      for (const status of [301, 302, 307, 308]) {
        provider.respondWith(({ path }) => ({ status, headers: { location: stranger.url + path } }));
        const problem = await problemOf(api.createCheckout(ORDER));
        expect(problem).toMatchObject({
          failure: "rejected",
          message: expect.stringContaining(new URL(stranger.url).origin),
        });
      }
      expect(stranger.requests).toEqual([]);
      await stranger.close();
    });

    it("rejects an oversized response", IN_ORDER, async () => {
      provider.respondWith(() => ({ body: { padding: "x".repeat(1_100_000) } }));
      const problem = await problemOf(api.fetchSubscription(subscriptionId));
      expect(problem).toMatchObject({
        failure: "unreachable",
        message: expect.stringContaining("more than"),
      });
      expect(provider.requests).toHaveLength(1);
    });

    it("reports an unreadable subscription", IN_ORDER, async () => {
      const text = JSON.stringify(providerApi.subscription("customer.subscription.updated"));
      provider.respondWith(() => ({
        body: text.replace(/"(status|phase)":"(?:active|running)"/g, `"$1":"elated"`),
      }));
      const problem = await problemOf(api.fetchSubscription(subscriptionId));
      expect(problem).toMatchObject({
        failure: "unreadable",
        message: expect.stringMatching(/status|phase/),
      });
    });
  },
);

it.concurrent("ends every call within 10 s", async () => {
  const provider = await localProvider();
  provider.respondWith(() => "silence");
  await Promise.all(
    PROVIDER_APIS.flatMap(({ format, subscriptionId, customerId }) => {
      const api = createPaymentApi({ slot: "provider-a", format, apiKey: KEY, apiUrl: provider.url });
      return [
        api.createCheckout(ORDER),
        api.openPortal({ ...PAYER, customerId }),
        api.fetchSubscription(subscriptionId),
        api.cancelSubscription(subscriptionId),
      ];
    }).map(async (call) => {
      await expect(call).rejects.toMatchObject({ failure: "unreachable" });
    }),
  );
  await provider.close();
});

async function problemOf(call: Promise<unknown>): Promise<PaymentApiProblem> {
  const problem = await call.then(
    () => null,
    (error: unknown) => error,
  );
  expect(problem).toBeInstanceOf(PaymentApiProblem);
  return problem as PaymentApiProblem;
}
