import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { loadFixture, signedDelivery } from "../../../fixtures/fixture.ts";
import { eventually } from "../../../support/eventually.ts";
import { deliverWebhook } from "../../../support/http.ts";
import { type OpenAiServer, openAiServer } from "../../../support/openai-server.ts";
import { GENEROUS_LIMITS, SECRETS } from "../../../support/variables.ts";
import { type Canary, canary } from "./canary.ts";
import { BODIES } from "./requests.ts";
import { securityContext } from "./security-context.ts";
import { answerTo, send } from "./send.ts";

const APP_URL = "https://app.example.com";

/** Spellings of foreign URLs that have been mistaken for own ones. */
const ELSEWHERE = [
  "https://evil.example",
  "http://app.example.com",
  "https://app.example.com:8443",
  "https://app.example.com.evil.example",
  "https://app.example.com@evil.example",
  "https://app.example.com:x@evil.example/",
  "https://evil.example/https://app.example.com",
  "https://evil.example#https://app.example.com",
  "https://evil.example?https://app.example.com",
  "https://evil.example\\@app.example.com",
  "https://evilapp.example.com",
  "HTTPS://EVIL.EXAMPLE",
  "//evil.example",
  "///evil.example",
  "////evil.example",
  "/\\evil.example",
  "\\\\evil.example",
  "\\/evil.example",
  "https:evil.example",
  "https:/evil.example",
  "https:\\\\evil.example",
  "/%2fevil.example",
  "/%5cevil.example",
  "/%2f%2fevil.example",
  "/\t/evil.example",
  "/\n/evil.example",
  "\t//evil.example",
  " //evil.example",
  "/..//evil.example",
  "/.//evil.example",
  "/x/..//evil.example",
  "/@evil.example",
  "/x?next=//evil.example",
  "/x#//evil.example",
  "javascript:alert(1)",
  "java\nscript:alert(1)",
  "data:text/html,<script>alert(1)</script>",
  "file:///etc/passwd",
  "http://169.254.169.254/latest/meta-data",
  "http://[::1]/",
  "http://127.0.0.1:5432/",
  "http://2130706433/",
  "/x\r\nSet-Cookie: a=b",
  "/x%0d%0aSet-Cookie:%20a=b",
  "evil.example",
  "*",
  "",
];

const context = securityContext();

describe("API7:2023 Server Side Request Forgery", () => {
  let bird: Canary;
  let provider: OpenAiServer;
  let url: string;
  beforeAll(async () => {
    bird = await canary();
    provider = await openAiServer();
    provider.answer((exchange) => {
      exchange.say("Fine");
      exchange.finish();
    });
    url = await context.serverWith({
      ...GENEROUS_LIMITS,
      APP_URL,
      AI_BASE_URL: provider.baseUrl,
      AI_MODEL: "model-1",
    });
  });
  afterEach(() => expect(bird.visits).toEqual([]));
  afterAll(async () => {
    await provider.close();
    await bird.close();
  });
  // Where the origin is https, so is the cookie.
  const mallory = () => `__Host-${context.attacker.cookie}`;
  /** As a browser reads it that is on a page of ours. */
  const isOurs = (place: string) => new URL(place, `${APP_URL}/somewhere`).origin === APP_URL;

  it("links to own pages in mail", async () => {
    const before = (await context.mails()).length;
    let accepted = 0;
    // In fives: so many mails a recipient gets, and every answer takes its time.
    for (let n = 0; n < ELSEWHERE.length; n += 5) {
      await context.test.rows("truncate mail_recipient");
      const requests = ELSEWHERE.slice(n, n + 5).map(async (redirectTo) => {
        const body = { email: context.victim.email, redirectTo };
        const response = await send(url, "POST /api/auth/request-password-reset", { body });
        expect([200, 400, 403], `${redirectTo}: ${response.text}`).toContain(response.status);
        if (!isOurs(redirectTo)) expect([redirectTo, response.status]).not.toEqual([redirectTo, 200]);
        return response.status === 200;
      });
      accepted += (await Promise.all(requests)).filter(Boolean).length;
    }
    await context.test.rows("truncate mail_recipient");
    const ours = { email: context.victim.email, redirectTo: "/reset-password" };
    expect((await send(url, "POST /api/auth/request-password-reset", { body: ours })).status).toBe(200);
    await eventually(async () => (await context.mails()).length, before + accepted + 1);
    for (const mail of (await context.mails()).slice(before)) {
      const link = new URL(/https?:\/\/\S+/.exec(mail)?.[0] as string);
      expect(link.origin).toBe(APP_URL);
      const followed = await send(url, `GET ${link.pathname}${link.search}`);
      expect(followed.status).toBe(302);
      expect(isOurs(followed.fields.location as string), followed.fields.location).toBe(true);
    }
  });

  it("redirects to own pages only", async () => {
    for (const place of ELSEWHERE) {
      for (const token of ["a-guessed-token", "x"]) {
        const query = `callbackURL=${encodeURIComponent(place)}`;
        const response = await send(url, `GET /api/auth/reset-password/${token}?${query}`);
        expect([302, 400, 403]).toContain(response.status);
        const { location } = response.fields;
        if (location !== undefined) expect(isOurs(location), `${place} leads to ${location}`).toBe(true);
        expect(response.fields["set-cookie"]).toBeUndefined();
      }
    }
    for (const query of [
      "redirect",
      "redirectTo",
      "redirect_uri",
      "next",
      "url",
      "returnTo",
      "continue",
      "errorURL",
    ]) {
      const target = `GET /api/auth/get-session?${query}=${encodeURIComponent("https://evil.example")}`;
      for (const request of [
        target,
        target.replace("auth/get-session", "plans"),
        target.replace("get-session", "ok"),
      ])
        expect((await send(url, request)).fields.location).toBeUndefined();
    }
  });

  it("rejects a foreign callback URL on sign-up", async () => {
    let n = 0;
    for (const callbackURL of ELSEWHERE.filter((place) => !isOurs(place))) {
      n += 1;
      const body = {
        name: "N",
        email: `elsewhere.${n}@example.com`,
        password: "a password of mine",
        callbackURL,
      };
      const response = await send(url, "POST /api/auth/sign-up/email", { body });
      expect([400, 403], `${callbackURL}: ${response.status} ${response.text}`).toContain(response.status);
    }
    expect(await context.test.rows(`select id from "user" where email like 'elsewhere.%'`)).toEqual([]);
  });

  it("ignores a forged Host header", async () => {
    await context.test.rows("truncate mail_recipient");
    const before = (await context.mails()).length;
    const hosts = { host: "evil.example", "x-forwarded-host": "evil.example", "x-forwarded-proto": "http" };
    const poisons: Record<string, string>[] = [
      hosts,
      { ...hosts, forwarded: "host=evil.example;proto=http", "x-original-host": "evil.example" },
      { ...hosts, "x-forwarded-server": "evil.example", "x-host": "evil.example", "x-forwarded-port": "1" },
    ];
    for (const headers of poisons) {
      const body = { email: context.victim.email };
      const answer = await send(url, "POST /api/auth/request-password-reset", { headers, body });
      expect(answer.status).toBe(200);
      for (const request of [
        "GET /api/plans",
        "GET /api/openapi.json",
        "GET /api/docs",
        "GET /api/version",
      ]) {
        const response = await send(url, request, { headers });
        expect(JSON.stringify(response.fields) + response.text).not.toContain("evil.example");
      }
    }
    await eventually(async () => (await context.mails()).length, before + poisons.length);
    for (const mail of (await context.mails()).slice(before)) {
      expect(mail).toContain(`${APP_URL}/api/auth/reset-password/`);
      expect(mail).not.toContain("evil.example");
    }
  });

  it("rejects header injection in email addresses", async () => {
    const before = (await context.mails()).length;
    const { email } = context.victim;
    for (const smuggled of [
      `${email}\r\nBcc: evil@example.com`,
      `${email},evil@example.com`,
      `${email};evil@example.com`,
      `"${email}" <evil@example.com>`,
      [email, "evil@example.com"],
      `${email}%0d%0aBcc:evil@example.com`,
      `${email}\0evil@example.com`,
    ]) {
      const body = { email: smuggled };
      expect((await send(url, "POST /api/auth/request-password-reset", { body })).status).toBe(400);
    }
    expect(await context.mails()).toHaveLength(before);
  });

  it("accepts no URL that the server would fetch", async () => {
    const target = `http://127.0.0.1:${bird.port}/there`;
    const cookie = mallory();
    const names = [
      "url",
      "successUrl",
      "success_url",
      "cancelUrl",
      "returnUrl",
      "callbackURL",
      "webhookUrl",
      "image",
    ];
    for (const name of names) {
      for (const request of [
        "PATCH /api/users/me",
        "POST /api/checkout",
        "POST /api/portal",
        "POST /api/api-keys",
      ]) {
        const body = { ...BODIES[request.replace("/api", "")], [name]: target };
        expect((await send(url, request, { cookie, body })).status).toBe(400);
      }
      await send(url, `GET /api/users/me?${name}=${target}`, { cookie });
      await send(url, `GET /api/docs?${name}=${target}&configUrl=${target}`);
    }
    const headers = {
      origin: target,
      referer: target,
      "x-forwarded-host": `127.0.0.1:${bird.port}`,
      link: `<${target}>`,
    };
    await send(url, "GET /api/plugins/renewals/calendar.ics", { cookie, headers });
    const renamed = await send(url, "PATCH /api/users/me", { cookie, body: { name: target } });
    expect(renamed.body.name).toBe(target);
    await send(url, "PATCH /api/users/me", { cookie, body: { name: "Mallory Attacker" } });
  });

  it("sends chat requests only to the configured endpoint", async () => {
    const target = `http://127.0.0.1:${bird.port}/image.png`;
    const cookie = mallory();
    const file = { type: "file", url: target, mediaType: "image/png" };
    const text = { type: "text", text: target };
    const user = (message: object) => ({ messages: [{ role: "user", ...message }] });
    const refused = [
      user({ parts: [text, file] }),
      user({ parts: [{ type: "image", image: target }] }),
      user({ parts: [{ type: "source-url", url: target, sourceId: "1" }] }),
      user({
        parts: [{ type: "tool-fetch", toolCallId: "1", state: "input-available", input: { url: target } }],
      }),
      user({ content: [{ type: "image_url", image_url: { url: target } }] }),
      { messages: [{ role: "system", content: target }] },
    ];
    // Clients send fields of their own beside the messages: ignored.
    const ignored = { baseURL: target, model: target, provider: { url: target } };
    for (const body of refused)
      expect((await send(url, "POST /api/chat", { cookie, body })).status).toBe(400);
    expect(provider.exchanges).toEqual([]);
    const answer = await send(url, "POST /api/chat", {
      cookie,
      body: { ...user({ parts: [text], experimental_attachments: [{ url: target }] }), ...ignored },
    });
    expect(answer.status).toBe(200);
    expect(provider.exchanges).toHaveLength(1);
  });

  it("does not fetch URLs from events", async () => {
    const target = `http://127.0.0.1:${bird.port}/invoice`;
    for (const event of ["checkout.session.completed", "customer.subscription.created"]) {
      const { body } = loadFixture("stripe", event, {
        eventId: `visit-${event}`,
        subscriptionId: "sub_visit",
        customerId: target,
        userId: context.attacker.id,
        planId: "pro",
      });
      const object = (body.data as { object: Record<string, unknown> }).object;
      for (const name of [
        "url",
        "hosted_invoice_url",
        "success_url",
        "cancel_url",
        "receipt_url",
        "callback",
        "$ref",
      ])
        object[name] = target;
      Object.assign(object.metadata as object, { url: target, webhook: target, "@context": target });
      body.$schema = target;
      const nowSeconds = Math.floor(Date.now() / 1000);
      const response = await deliverWebhook(url, "provider-a", {
        ...signedDelivery("stripe", body, { secret: SECRETS["provider-a"], nowSeconds }),
      });
      expect(response.status).toBe(200);
    }
    await context.test.rows("delete from subscription where provider_subscription_id = 'sub_visit'");
  });

  it("does not act as a proxy", async () => {
    const authority = `127.0.0.1:${bird.port}`;
    for (const request of [
      `GET http://${authority}/there HTTP/1.1\r\nHost: ${authority}\r\n\r\n`,
      `GET http://${authority}/api/plans HTTP/1.1\r\nHost: ${authority}\r\n\r\n`,
      `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\nGET / HTTP/1.1\r\n\r\n`,
      `GET //${authority}/there HTTP/1.1\r\nHost: localhost\r\n\r\n`,
      `GET /api/@${authority}/ HTTP/1.1\r\nHost: localhost@${authority}\r\n\r\n`,
      `GET /api/http://${authority}/ HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-Host: ${authority}\r\n\r\n`,
    ]) {
      expect(await answerTo(url, request)).toMatch(/^(HTTP\/1\.1 [24]|$)/);
    }
  });
});
