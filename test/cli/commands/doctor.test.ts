import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { checkClock } from "../../../src/doctor/check-clock.ts";
import { checkKeyExpiry } from "../../../src/doctor/check-key-expiry.ts";
import { checkPlans, checkTrials } from "../../../src/doctor/check-prices.ts";
import type { Finding } from "../../../src/doctor/finding.ts";
import { definePlans } from "../../../src/domain/plans/plan.ts";
import { PADDLE_TRAITS } from "../../../src/providers/paddle/traits.ts";
import { STRIPE_TRAITS } from "../../../src/providers/stripe/traits.ts";
import type { RunningServer } from "../../../src/server.ts";
import { emptyDatabase } from "../../support/database.ts";
import { startTestServer } from "../../support/server.ts";
import { smtpServer } from "../../support/smtp-server.ts";
import { STRIPE_KEY, type StripeServer, stripeServer } from "../../support/stripe-server.ts";
import { testDatabase } from "../../support/test-database.ts";
import { SECRETS, serverVariables } from "../../support/variables.ts";
import { tollgateIn, tollgateProcessIn } from "../tollgate.ts";

const test = testDatabase(0);
let server: RunningServer;
let stripe: StripeServer;
let variables: Record<string, string>;
beforeAll(async () => {
  stripe = await stripeServer();
  server = await startTestServer(test.url);
  variables = {
    ...serverVariables(test.url),
    APP_URL: server.url,
    PROVIDER_A_API_KEY: STRIPE_KEY,
    PROVIDER_A_API_URL: stripe.url,
  };
});
afterAll(async () => {
  await server.close();
  await stripe.close();
});

const stands: Server[] = [];
afterEach(() => {
  stripe.interfere(null);
  for (const stand of stands.splice(0)) stand.close();
});

/** Another program at the server's address. */
async function standIn(answer: RequestListener): Promise<string> {
  const stand = createServer(answer);
  stands.push(stand);
  await new Promise<void>((listens) => stand.listen(0, "127.0.0.1", listens));
  return `http://127.0.0.1:${(stand.address() as AddressInfo).port}`;
}

const NOW = new Date("2026-11-22T12:00:00Z");
const DAY_MS = 24 * 60 * 60 * 1000;

function jwtEndingIn(days: number): string {
  const claims = { exp: (NOW.getTime() + days * DAY_MS) / 1000 };
  return `eyJhbGciOiJub25lIn0.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.c2ln`;
}

const CLOSED = "127.0.0.1:1";

async function examined(
  changed: Record<string, string> = {},
): Promise<(check: string) => Finding | undefined> {
  const { findings, ok } = await tollgateIn({ ...variables, ...changed }).json("doctor");
  expect(ok).toBe(!findings.some((finding: Finding) => finding.state === "broken"));
  return (check) => findings.find((finding: Finding) => finding.check === check);
}

describe("doctor", () => {
  it("reports no problems as a table, and changes nothing but the delivery log", async () => {
    const { code, stdout, stderr } = await tollgateProcessIn(variables)("doctor");
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("provider-a webhook   a signed test event was accepted");
    expect(stdout).toContain("provider-a key       the provider accepts it");
    expect(stdout).not.toMatch(/broken|warning/);
    expect(stdout).toMatch(/Nothing to do\.\n$/);
    expect(await test.rows("select distinct event_type, status from webhook_delivery")).toEqual([
      { event_type: "tollgate.doctor", status: "successful" },
    ]);
    expect(stdout).not.toContain(STRIPE_KEY);
  });

  it("prints examples in --help", async () => {
    const { code, stdout } = await tollgateIn({})("doctor", "--help");
    expect(code).toBe(0);
    expect(stdout).toContain("npm run -s tollgate -- doctor --json");
  });

  it("exits 1 with a sentence on stderr and a remedy for each failed check", async () => {
    const { code, stdout, stderr } = await tollgateProcessIn({
      ...variables,
      PROVIDER_A_API_KEY: "sk_wrong",
    })("doctor");
    expect([code, stderr]).toEqual([1, "1 check failed\n"]);
    expect(stdout).toMatch(/To do:\n {2}provider-a key: Set PROVIDER_A_API_KEY to/);
    expect(stdout).not.toContain("sk_wrong");
  });

  it.each<[string, string, "broken" | "warning", Record<string, string>, RegExp]>([
    [
      "a bad variable",
      "variables",
      "broken",
      { WEBHOOK_LEASE_SECONDS: "soon" },
      /^WEBHOOK_LEASE_SECONDS: expected/,
    ],
    ["no database", "database", "broken", { DATABASE_URL: `postgres://${CLOSED}/x` }, /ECONNREFUSED/],
    ["no Redis", "redis", "broken", { REDIS_URL: `redis://${CLOSED}` }, /cannot be used/],
    ["memory where there may be several", "redis", "warning", { NODE_ENV: "production" }, /in memory/],
    ["no AUTH_SECRET", "auth secret", "broken", { AUTH_SECRET: "" }, /not set/],
    ["an AUTH_SECRET of one letter", "auth secret", "warning", { AUTH_SECRET: "a".repeat(40) }, /guessed/],
    [
      "no server",
      "address",
      "broken",
      { APP_URL: `http://${CLOSED}` },
      /nothing responds at http:\/\/127.0.0.1:1/,
    ],
    [
      "a local address in production",
      "address",
      "broken",
      { NODE_ENV: "production" },
      /only be reached from this machine/,
    ],
    [
      "a secret missing",
      "provider-a webhook",
      "broken",
      { PROVIDER_A_WEBHOOK_SECRET: "" },
      /every delivery is refused/,
    ],
    [
      "another secret",
      "provider-b webhook",
      "broken",
      { PROVIDER_B_WEBHOOK_SECRET: "whsec_b3RoZXI=" },
      /returned 400$/,
    ],
    ["a wrong key", "provider-a key", "broken", { PROVIDER_A_API_KEY: "sk_wrong" }, /^unauthorized/],
    [
      "no key",
      "provider-b key",
      "broken",
      { ACTIVE_PROVIDER: "provider-b" },
      /PROVIDER_B_API_KEY is not set/,
    ],
    ["no mail server", "mail", "broken", { SMTP_URL: `smtp://${CLOSED}` }, /cannot be used: ECONNREFUSED/],
    ["mail into files in production", "mail", "warning", { NODE_ENV: "production" }, /SMTP_URL is not set/],
    [
      "another provider's key",
      "provider-a key",
      "broken",
      { PROVIDER_A_API_KEY: "pdl_live_apikey_01h" },
      /begins like a key of Paddle/,
    ],
    ["no provider", "provider-a key", "broken", { PROVIDER_A_API_URL: `http://${CLOSED}` }, /^unreachable/],
  ])("reports %s", async (_, check, state, changed, detail) => {
    const finding = (await examined(changed))(check);
    expect(finding).toMatchObject({
      state,
      detail: expect.stringMatching(detail),
      remedy: expect.stringMatching(/\.|:/),
    });
  });

  it("reports an API URL that belongs to another service", async () => {
    for (const body of ['{"error":"not found"}', "<h1>Not found</h1>", '{"message":"No route","code":404}']) {
      for (const status of [404, 400]) {
        const url = await standIn((_, answer) => answer.writeHead(status).end(body));
        const finding = (await examined({ PROVIDER_A_API_URL: url }))("provider-a key");
        expect(finding, `${status} ${body}`).toMatchObject({ state: "broken" });
      }
    }
  });

  it("reports pending migrations without running them", async () => {
    const empty = await emptyDatabase();
    expect((await examined({ DATABASE_URL: empty.url }))("schema")).toMatchObject({
      state: "warning",
      detail: expect.stringMatching(/pending: 0001_intake\.sql/),
    });
    expect(await empty.rows("select to_regclass('webhook_delivery') as found")).toEqual([{ found: null }]);
    await empty.drop();
  });

  it("reports another service or a redirect at APP_URL", async () => {
    const foreignServer = await standIn((_, response) => response.writeHead(404).end());
    const findingOf = await examined({ APP_URL: foreignServer });
    expect(findingOf("address")).toMatchObject({
      state: "broken",
      detail: `${foreignServer}/api/ready returned 404`,
    });
    expect(findingOf("provider-a webhook")).toMatchObject({
      state: "broken",
      detail: expect.stringMatching(/returned 404$/),
      remedy: expect.stringMatching(/let POST requests through/),
    });
    const moved = await standIn((_, response) =>
      response.writeHead(308, { location: "https://b.example/" }).end(),
    );
    expect((await examined({ APP_URL: moved }))("provider-c webhook")).toMatchObject({
      remedy: expect.stringMatching(/redirects to https:\/\/b\.example\//),
    });
  });

  it("does not take a page that responds to everything for the server", async () => {
    const page = await standIn((_, response) => response.end("<h1>Welcome</h1>"));
    const findingOf = await examined({ APP_URL: page });
    expect(findingOf("address")).toMatchObject({ state: "broken" });
    expect(findingOf("provider-a webhook")).toMatchObject({
      state: "warning",
      detail: `${page}/api/webhooks/provider-a responds, but is not Tollgate`,
    });
  });

  it("reports a proxy that has no server behind it", async () => {
    const proxy = await standIn((_, response) => response.writeHead(503).end("<h1>no server</h1>"));
    const findingOf = await examined({ APP_URL: proxy });
    const remedy = expect.stringMatching(/^A proxy responds in its place/);
    expect(findingOf("address")).toMatchObject({ state: "broken", remedy });
    expect(findingOf("provider-a webhook")).toMatchObject({ state: "broken", remedy });
  });

  it("reports a clock that is off by more than the tolerance, and warns of a smaller difference", async () => {
    const ahead = (seconds: number) =>
      standIn((_, response) =>
        response
          .writeHead(200, { date: new Date(Date.now() + seconds * 1000).toUTCString() })
          .end('{"status":"ready"}'),
      );
    expect((await examined({ APP_URL: await ahead(400) }))("clock")).toMatchObject({
      state: "broken",
      detail: expect.stringMatching(/^(399|400|401) s behind http/),
    });
    expect((await examined({ APP_URL: await ahead(-60) }))("clock")).toMatchObject({
      state: "warning",
      detail: expect.stringMatching(/ s ahead of http/),
    });
  });

  it("warns of a variable whose name is misspelt", async () => {
    const { findings } = await tollgateIn({ ...variables, AUDIT_RETENTION_DAY: "30" }).json("doctor");
    expect(findings).toContainEqual(
      expect.objectContaining({
        state: "warning",
        detail: expect.stringContaining("AUDIT_RETENTION_DAYS is not"),
      }),
    );
  });

  it("logs in to the mail server without sending anything", async () => {
    const smtp = await smtpServer();
    expect((await examined({ SMTP_URL: smtp.url }))("mail")).toMatchObject({ state: "good" });
    expect(smtp.verbs).not.toContain("MAIL");
    expect(smtp.mails).toEqual([]);
    smtp.reply = ({ verb }) => (verb === "CONNECT" ? "554 go away" : undefined);
    expect((await examined({ SMTP_URL: smtp.url }))("mail")).toMatchObject({
      state: "broken",
      detail: expect.stringMatching(/cannot be used: it returned 554$/),
    });
    await smtp.close();
  });

  it("tells a mail server that offers no login from one that accepts it", async () => {
    const smtp = await smtpServer();
    const withLogin = smtp.url.replace("//", "//shop:secret@");
    expect((await examined({ SMTP_URL: withLogin }))("mail")).toMatchObject({
      state: "warning",
      detail: expect.stringMatching(/^127\.0\.0\.1:\d+ offers no login$/),
      remedy: expect.stringMatching(/port/),
    });
    expect((await examined({ SMTP_URL: smtp.url }))("mail")?.detail).toMatch(/ accepts our connection$/);
    smtp.reply = ({ verb }) =>
      verb === "EHLO" ? "250-test\r\n250 AUTH PLAIN" : verb === "AUTH" ? "235 ok" : undefined;
    expect((await examined({ SMTP_URL: withLogin }))("mail")?.detail).toMatch(/ accepts our login$/);
    smtp.reply = ({ verb }) =>
      verb === "EHLO" ? "250-test\r\n250 AUTH PLAIN" : verb === "AUTH" ? "535 no" : undefined;
    expect((await examined({ SMTP_URL: withLogin }))("mail")).toMatchObject({
      state: "broken",
      detail: expect.stringMatching(/ refuses our login: it returned 535$/),
      remedy: expect.stringMatching(/user and the password/),
    });
    await smtp.close();
  });

  it("sends no key to a provider that it does not belong to", async () => {
    const before = stripe.calls.length;
    await examined({ PROVIDER_A_API_KEY: "polar_oat_secret" });
    expect(stripe.calls.slice(before).filter((call) => call.includes("/subscriptions/"))).toEqual([]);
  });

  it("sends none of another provider when it asks whether a key is of test mode either", async () => {
    const sent: unknown[] = [];
    const url = await standIn(({ headers }, response) => {
      sent.push(headers.authorization);
      response.end("{}");
    });
    await tollgateIn({
      ...variables,
      PROVIDER_B_ADAPTER: "lemon-squeezy",
      PROVIDER_B_API_KEY: "sk_live_of_stripe",
      PROVIDER_B_API_URL: url,
    })("doctor", "--production");
    // Its clock is asked for.
    expect(sent).not.toEqual([]);
    expect(sent.filter((authorization) => authorization !== undefined)).toEqual([]);
  });

  it("knows since when a server has used a key, without keeping the key", async () => {
    const withKey = await startTestServer(test.url, {
      PROVIDER_A_API_KEY: STRIPE_KEY,
      PROVIDER_A_API_URL: stripe.url,
    });
    await withKey.close();
    expect(await test.rows("select provider, length(hash) as bytes from provider_key")).toEqual([
      { provider: "provider-a", bytes: 32 },
    ]);
    expect((await examined())("provider-a key")).toMatchObject({ state: "good" });
  });

  it("reports a price id that the provider does not know", async () => {
    stripe.prices.delete("price_team_monthly");
    expect((await examined())("provider-a prices")).toMatchObject({
      state: "broken",
      detail: "unknown to the provider: price_team_monthly",
    });
    stripe.prices.add("price_team_monthly");
  });

  it.each([
    [503, /^Try again later; .*PROVIDER_A_API_URL/],
    [403, /^Set PROVIDER_A_API_KEY to .* with the permissions it needs/],
  ])("says why prices could not be checked: %i", async (status, remedy) => {
    stripe.interfere(async ({ path }) =>
      path.startsWith("/v1/prices/")
        ? { status, body: { error: { type: "api_error", message: "not now" } } }
        : undefined,
    );
    expect((await examined())("provider-a prices")).toMatchObject({
      state: "warning",
      detail: `could not be checked: provider-a (Stripe): GET /v1/prices/price_pro_monthly answered ${status}: "not now".`,
      remedy: expect.stringMatching(remedy),
    });
  });

  it.each([true, false])("asks whether a key that does not show it is of test mode: %s", async (isTest) => {
    const url = await standIn((_, response) =>
      response.end(JSON.stringify({ meta: { test_mode: isTest }, data: { type: "users", id: "1" } })),
    );
    const { findings } = await tollgateIn({
      ...variables,
      PROVIDER_B_ADAPTER: "lemon-squeezy",
      PROVIDER_B_API_KEY: jwtEndingIn(100),
      PROVIDER_B_API_URL: url,
    }).json("doctor", "--production");
    const names = isTest ? "PROVIDER_A_API_KEY, PROVIDER_B_API_KEY" : "PROVIDER_A_API_KEY";
    expect(findings).toContainEqual(
      expect.objectContaining({
        check: "live keys",
        state: "broken",
        detail: `${names}: a test key or a sandbox`,
      }),
    );
  });

  it("warns of a key that is accepted and expires soon", async () => {
    const errors = [{ status: "404", title: "Not Found", detail: "The requested resource does not exist." }];
    const url = await standIn((_, response) =>
      response
        .writeHead(404, { "content-type": "application/vnd.api+json" })
        .end(JSON.stringify({ jsonapi: { version: "1.0" }, errors })),
    );
    const daysFromNow = (Date.now() - NOW.getTime()) / DAY_MS;
    const findingOf = await examined({
      PROVIDER_B_ADAPTER: "lemon-squeezy",
      PROVIDER_B_API_KEY: jwtEndingIn(daysFromNow + 5.5),
      PROVIDER_B_API_URL: url,
    });
    expect(findingOf("provider-b key")).toMatchObject({
      state: "warning",
      detail: "PROVIDER_B_API_KEY expires in 5 days",
    });
  });

  it("sends the test event with the first of several secrets", async () => {
    const findingOf = await examined({ PROVIDER_A_WEBHOOK_SECRET: `${SECRETS["provider-a"]},whsec_b2xk` });
    expect(findingOf("provider-a webhook")).toMatchObject({ state: "good" });
  });
});

describe("checks", () => {
  it("report a plan that the active slot does not sell", () => {
    const plan = {
      id: "pro",
      name: "Pro",
      price: { amount: 1, currency: "EUR", interval: "month" as const },
      features: [],
      seats: { min: 1, max: 1 },
    };
    const catalog = definePlans([{ ...plan, priceIds: { "provider-a": "price_1" } }]);
    expect(checkPlans(catalog, "provider-a").state).toBe("good");
    expect(checkPlans(catalog, "provider-b")).toMatchObject({
      state: "broken",
      detail: "not sold by provider-b: pro (month, EUR)",
    });
    expect(checkPlans(definePlans([{ ...plan, priceIds: {} }]), "provider-a").state).toBe("warning");
  });

  it("warns of a trial that has to be set at the provider's price", () => {
    const plan = (id: string, trialDays: number) => ({
      id,
      name: id,
      price: { amount: 100, currency: "EUR", interval: "month" } as const,
      features: [],
      seats: { min: 1, max: 1 },
      priceIds: { "provider-a": `price_${id}` },
      trialDays,
    });
    const catalog = definePlans([plan("pro", 14), plan("team", 0)]);
    expect(checkTrials(catalog, "provider-a", PADDLE_TRAITS)).toMatchObject({
      check: "provider-a trials",
      state: "warning",
      detail: "not started by checkouts of Paddle: pro (14 days)",
    });
    expect(checkTrials(catalog, "provider-b", PADDLE_TRAITS)).toBeNull();
    expect(checkTrials(catalog, "provider-a", STRIPE_TRAITS)).toBeNull();
  });

  it.each<[string, string, number | null, string | null]>([
    ["paddle", "pdl_live_apikey_01h", 75, null],
    [
      "paddle",
      "pdl_live_apikey_01h",
      76,
      "PROVIDER_A_API_KEY has been in use for 76 days, and Paddle's keys",
    ],
    ["paddle", "pdl_live_apikey_01h", null, null],
    ["stripe", "sk_live_1", 500, null],
    ["polar", "polar_oat_1", 500, null],
    ["lemon-squeezy", jwtEndingIn(15), null, null],
    ["lemon-squeezy", jwtEndingIn(14), null, "PROVIDER_A_API_KEY expires in 14 days"],
    ["lemon-squeezy", jwtEndingIn(1), null, "PROVIDER_A_API_KEY expires in 1 day"],
    ["lemon-squeezy", jwtEndingIn(0.5), null, "PROVIDER_A_API_KEY expires in less than a day"],
    ["lemon-squeezy", jwtEndingIn(-1), null, "PROVIDER_A_API_KEY has expired"],
    [
      "lemon-squeezy",
      "eyJ.eyJ.sig",
      351,
      "PROVIDER_A_API_KEY has been in use for 351 days, and Lemon Squeezy's",
    ],
  ])("warn 14 days before a key of %s ends (%s, used for %s days)", (format, apiKey, usedDays, detail) => {
    const key = { slot: "provider-a", format, apiKey, apiKeyVariable: "PROVIDER_A_API_KEY" } as const;
    const usedSince = usedDays === null ? null : new Date(NOW.getTime() - usedDays * DAY_MS);
    const finding = checkKeyExpiry(key, usedSince, NOW);
    if (detail === null) expect(finding).toBeNull();
    else {
      const isDetail = expect.stringMatching(new RegExp(`^${detail}(?!\\w)`));
      expect(finding).toMatchObject({ check: "provider-a key", detail: isDetail });
    }
  });

  it("use the clock that differs most", () => {
    const clocks = [
      { whose: "one", aheadMs: 100 },
      { whose: "two", aheadMs: -310_000 },
      { whose: "three", aheadMs: null },
    ];
    expect(checkClock(clocks, 300)).toMatchObject({ state: "broken", detail: "310 s ahead of two" });
    expect(checkClock(clocks, 600).state).toBe("warning");
    expect(checkClock(clocks.slice(0, 1), 300).state).toBe("good");
    expect(checkClock([], 300).state).toBe("skipped");
  });
});
