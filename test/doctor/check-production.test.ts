import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import plans from "../../plans.config.ts";
import { readConfig } from "../../src/config/config.ts";
import { checkProduction, PRODUCTION_CHECKS } from "../../src/doctor/check-production.ts";
import {
  checkProductionDatabase,
  durability,
  encryption,
  PRODUCTION_DATABASE_CHECKS,
} from "../../src/doctor/check-production-database.ts";
import { definePlans } from "../../src/domain/plans/plan.ts";
import { cleanedUp } from "../support/cleanup.ts";
import { emptyDatabase, freshDatabase, type TestDatabase } from "../support/database.ts";

const READY = {
  NODE_ENV: "production",
  DATABASE_URL: "postgres://tollgate@db.example.com/tollgate",
  AUTH_SECRET: "only-for-tests-and-long-enough-to-be-taken",
  APP_URL: "https://billing.example.com",
  PROVIDER_A_API_KEY: "sk_live_0123456789",
  SMTP_URL: "smtps://mail.example.com",
  MAIL_FROM: "Example <no-reply@example.com>",
  REQUIRE_EMAIL_CONFIRMATION: "on",
  REQUIRE_ADMIN_2FA: "on",
  REDIS_URL: "redis://redis.example.com",
  METRICS_TOKEN: "a-token-of-sixteen-or-more",
};

const stateOf = (check: string, variables: Record<string, string>) =>
  checkProduction(readConfig(variables)).find((finding) => finding.check === check)?.state;

it("reports no problem when everything is set for production", () => {
  const findings = checkProduction(readConfig(READY));
  // Whether the pages are built depends on what else was run.
  const otherFindings = findings.filter(({ check }) => check !== "built pages");
  expect(otherFindings.filter(({ state }) => state !== "good")).toEqual([]);
});

it.each([
  ["NODE_ENV", { NODE_ENV: "development" }, "broken"],
  ["own database", { DATABASE_URL: "", EMBEDDED_IN_PRODUCTION: "on" }, "broken"],
  ["public origin", { APP_URL: "http://billing.example.com" }, "broken"],
  ["public origin", { APP_URL: "https://localhost:3000" }, "broken"],
  ["simulator", { SIMULATOR: "on" }, "broken"],
  ["live keys", { PROVIDER_A_API_KEY: "" }, "broken"],
  ["live keys", { PROVIDER_A_API_KEY: "sk_test_0123456789" }, "broken"],
  ["live keys", { PROVIDER_B_API_KEY: "pdl_sdbx_apikey_0123456789" }, "broken"],
  [
    "live keys",
    { PROVIDER_C_API_KEY: "polar_oat_1", PROVIDER_C_API_URL: "https://sandbox-api.polar.sh" },
    "broken",
  ],
  ["signing secrets", { PROVIDER_A_WEBHOOK_SECRET: "whsec_" }, "broken"],
  ["signing secrets", { PROVIDER_B_WEBHOOK_SECRET: "polar_whs_changeme" }, "broken"],
  ["signing secrets", { PROVIDER_C_WEBHOOK_SECRET: "xxxxxxxxxxxxxxxxxxxxxxxx" }, "broken"],
  ["signing secrets", { PROVIDER_A_WEBHOOK_SECRET: "whsec_9fJq3vT7yLr2WzXk,secret" }, "broken"],
  ["signing secrets", { PROVIDER_A_WEBHOOK_SECRET: "whsec_9fJq3vT7yLr2WzXk" }, "good"],
  ["signing secrets", { PROVIDER_B_WEBHOOK_SECRET: "pdl_ntfset_01j9zq3b_7yLr2WzXk9fJq3vT" }, "good"],
  ["signing secrets", { PROVIDER_C_WEBHOOK_SECRET: "3f9a1c5e7b2d8046" }, "good"],
  ["signing secrets", { PROVIDER_C_WEBHOOK_SECRET: "correct_horse_battery_staple_lantern" }, "good"],
  ["mail", { SMTP_URL: "", REQUIRE_EMAIL_CONFIRMATION: "off" }, "broken"],
  ["mail", { MAIL_FROM: "" }, "broken"],
  ["mail", { MAIL_FROM: "Example <billing@LOCALHOST>" }, "broken"],
  ["encrypted mail", { SMTP_URL: "smtp://user:p%40ss@smtp.example.com:587" }, "warning"],
  ["encrypted mail", { SMTP_URL: "smtp://8.8.8.8" }, "warning"],
  ["encrypted mail", { SMTP_URL: "smtp://[2606:4700::1]:25" }, "warning"],
  ["encrypted mail", { SMTP_URL: "smtp://user:p%40ss@smtp.example.com:587?requireTLS=true" }, "good"],
  ["encrypted mail", { SMTP_URL: "smtp://10.1.2.3:25" }, "good"],
  ["encrypted mail", { SMTP_URL: "smtp://[::1]:25" }, "good"],
  ["encrypted mail", { SMTP_URL: "smtp://postfix:25" }, "good"],
  ["encrypted mail", { SMTP_URL: "smtp://mail.example.internal" }, "good"],
  ["unknown prices", { PROVIDER_B_API_KEY: "pdl_live_apikey_0123456789" }, "warning"],
  ["unknown prices", { PROVIDER_B_WEBHOOK_SECRET: "pdl_ntfset_0123456789" }, "warning"],
  ["unknown prices", { PROVIDER_C_API_KEY: "polar_oat_1" }, "good"],
  ["confirmed addresses", { REQUIRE_EMAIL_CONFIRMATION: "off" }, "warning"],
  ["administrators' second factor", { REQUIRE_ADMIN_2FA: "off" }, "warning"],
  ["shared limits", { REDIS_URL: "" }, "warning"],
  ["self-healing", { SELF_HEAL: "off" }, "warning"],
  ["self-healing", { RECONCILE: "off" }, "warning"],
  ["metrics", { METRICS_TOKEN: "" }, "warning"],
  ["introspection", { GRAPHQL_INTROSPECTION: "on" }, "warning"],
  ["introspection", { GRAPHQL_INTROSPECTION: "on", GRAPHQL: "off" }, "good"],
  ["log level", { LOG_LEVEL: "debug" }, "warning"],
  ["log level", { LOG_LEVEL: "error" }, "warning"],
  ["log level", { LOG_LEVEL: "warn" }, "good"],
])("reports %s with %o", (check, variables, state) => {
  expect(stateOf(check, { ...READY, ...variables } as unknown as Record<string, string>)).toBe(state);
});

describe("unknown prices at Paddle", () => {
  const config = readConfig({ ...READY, PROVIDER_B_API_KEY: "pdl_live_apikey_0123456789" });
  const refusing = (...ids: string[]) => ({
    ...config,
    plans: definePlans(
      config.plans.plans.map((plan) => ({
        ...plan,
        // `team` is sold at Stripe alone.
        priceIds: plan.id === "team" ? { "provider-a": "price_team" } : plan.priceIds,
        prices: [],
        unknownPrices: ids.includes(plan.id) ? "refuse" : "accept",
      })),
    ),
  });
  const finding = (...ids: string[]) =>
    checkProduction(refusing(...ids)).find(({ check }) => check === "unknown prices");

  it("are reported while any plan accepts them, also one that is not sold there", () => {
    expect(finding("pro")).toMatchObject({
      state: "warning",
      detail: expect.stringMatching(/^provider-b: .* team/),
    });
  });

  it("are not reported for the free plan, which everybody has", () => {
    const paid = plans.plans.map(({ id }) => id).filter((id) => id !== "free");
    expect(finding(...paid)).toMatchObject({ state: "good" });
  });
});

it("has a row for each check in the checklist", () => {
  const page = readFileSync(resolve(import.meta.dirname, "../../docs/production-checklist.md"), "utf8");
  const [, section = ""] = page.split(/^## /m);
  const rows = [...section.matchAll(/^\| `([^`]+)` \|/gm)].map(([, check]) => check);
  expect(rows).toEqual([...PRODUCTION_CHECKS, ...PRODUCTION_DATABASE_CHECKS]);
});

it("reports a database that may lose commits, and a missing second administrator", async () => {
  const test = await freshDatabase(2);
  cleanedUp(() => test.drop());
  const states = async () => {
    const findings = await checkProductionDatabase(readConfig({ ...READY, DATABASE_URL: test.url }));
    return findings.map(({ check, state }) => [check, state]);
  };
  expect(await states()).toEqual([
    ["durable commits", "good"],
    ["encrypted connection", "good"],
    ["second administrator", "warning"],
    ["live events", "good"],
  ]);
  await test.rows(`update "user" set role = 'admin'`);
  const { pathname } = new URL(test.url);
  await test.rows(`alter database ${pathname.slice(1)} set synchronous_commit = off`);
  expect(await states()).toEqual([
    ["durable commits", "broken"],
    ["encrypted connection", "good"],
    ["second administrator", "good"],
    ["live events", "good"],
  ]);
});

it("counts no administrator who is suspended", async () => {
  const test = await freshDatabase(3);
  cleanedUp(() => test.drop());
  const finding = async () => {
    const findings = await checkProductionDatabase(readConfig({ ...READY, DATABASE_URL: test.url }));
    return findings.find(({ check }) => check === "second administrator");
  };
  await test.rows(`update "user" set role = 'admin' where id <> 'user_2'`);
  await test.rows(`update "user" set banned = true where id = 'user_1'`);
  expect(await finding()).toMatchObject({ state: "warning", detail: "there is only one administrator" });
  await test.rows(`update "user" set ban_expires = now() - interval '1 minute' where id = 'user_1'`);
  expect(await finding()).toMatchObject({ state: "good" });
});

describe("events of a provider's test mode", () => {
  const deliver = (
    test: TestDatabase,
    facts: { slot: string; format: string; payload: string; daysAgo: number },
  ) =>
    test.rows(
      `insert into webhook_delivery (provider, event_id, event_type, format, status, claim_source, payload, received_at)
       values ($1, gen_random_uuid(), 'any', $2, 'successful', 'delivery', $3::text::json, now() - $4 * interval '1 day')`,
      [facts.slot, facts.format, facts.payload, facts.daysAgo],
    );
  const STRIPE = { slot: "provider-a", format: "stripe" };
  const SQUEEZY = { slot: "provider-c", format: "lemon-squeezy" };

  it.each([
    [{ ...STRIPE, payload: '{"livemode": false}', daysAgo: 0.9 }, "PROVIDER_A_WEBHOOK_SECRET"],
    [{ ...SQUEEZY, payload: '{"meta":{"test_mode":true}}', daysAgo: 0.9 }, "PROVIDER_C_WEBHOOK_SECRET"],
    [{ ...STRIPE, payload: '{"livemode":true,"x":"\\"livemode\\":false \\u0000"}', daysAgo: 0.9 }, null],
    [{ ...SQUEEZY, payload: '{"meta":{"test_mode":false},"livemode":false}', daysAgo: 0.9 }, null],
    [{ slot: "provider-b", format: "paddle", payload: '{"livemode":false}', daysAgo: 0.9 }, null],
    [{ ...STRIPE, payload: '{"livemode":false}', daysAgo: 1.1 }, null],
  ])("are reported if they came in the last 24 hours: %o", async (facts, variable) => {
    const test = await freshDatabase();
    cleanedUp(() => test.drop());
    await deliver(test, facts);
    const findings = await checkProductionDatabase(readConfig({ ...READY, DATABASE_URL: test.url }));
    const finding = findings.find(({ check }) => check === "live events");
    expect(finding?.state).toBe(variable === null ? "good" : "broken");
    if (variable !== null) expect(finding).toMatchObject({ remedy: expect.stringContaining(variable) });
  });
});

it("checks the rest for a role that may not read the accounts", async () => {
  const test = await freshDatabase(0);
  const role = `reader_${randomBytes(4).toString("hex")}`;
  await test.rows(`create role ${role} login password 'reader'`);
  cleanedUp(async () => {
    await test.rows(`drop role ${role}`);
    await test.drop();
  });
  const { href } = Object.assign(new URL(test.url), { username: role, password: "reader" });
  const findings = await checkProductionDatabase(readConfig({ ...READY, DATABASE_URL: href }));
  expect(findings.map(({ check, state }) => [check, state])).toEqual([
    ["durable commits", "good"],
    ["encrypted connection", "good"],
    ["second administrator", "skipped"],
    ["live events", "skipped"],
  ]);
});

it("checks the durability of a database that no server has used yet", async () => {
  const test = await emptyDatabase();
  cleanedUp(() => test.drop());
  await test.rows(`alter database ${new URL(test.url).pathname.slice(1)} set synchronous_commit = off`);
  const findings = await checkProductionDatabase(readConfig({ ...READY, DATABASE_URL: test.url }));
  expect(findings.map(({ check, state }) => [check, state])).toEqual([
    ["durable commits", "broken"],
    ["encrypted connection", "good"],
    ["second administrator", "skipped"],
    ["live events", "skipped"],
  ]);
});

it("takes a local socket as a private network", async () => {
  const test = await freshDatabase(0);
  cleanedUp(() => test.drop());
  const { username, password, port, pathname } = new URL(test.url);
  const [paths] = await test.rows<{ data: string; socket: string }>(
    "select current_setting('data_directory') as data, current_setting('unix_socket_directories') as socket",
  );
  const parameters = new URLSearchParams({ host: resolve(paths?.data ?? "", paths?.socket ?? ""), port });
  const DATABASE_URL = `postgres://${username}:${password}@${pathname}?${parameters}`;
  const findings = await checkProductionDatabase(readConfig({ ...READY, DATABASE_URL }));
  expect(findings.find(({ check }) => check === "encrypted connection")).toMatchObject({
    state: "good",
    detail: "no TLS, but within a private network",
  });
});

it.each(["fsync", "full_page_writes", "synchronous_commit"] as const)(
  "reports that PostgreSQL has %s off",
  (setting) => {
    const stateOfSetting = (name: string) => (name === setting ? "off" : "on");
    const finding = durability({
      fsync: stateOfSetting("fsync"),
      fullPageWrites: stateOfSetting("full_page_writes"),
      synchronousCommit: stateOfSetting("synchronous_commit"),
    });
    expect(finding).toMatchObject({ state: "broken", detail: `PostgreSQL has ${setting} off` });
  },
);

it.each([
  [
    { isEncrypted: false, isPrivate: false },
    "broken",
    "PostgreSQL is reached from the public address 8.8.8.8 without TLS",
  ],
  [{ isEncrypted: true, isPrivate: false }, "good", "TLS"],
  [{ isEncrypted: false, isPrivate: true }, "good", "no TLS, but within a private network"],
])("finds a connection to the database that is %o %s", (connection, state, detail) => {
  expect(encryption({ ...connection, from: "8.8.8.8" })).toMatchObject({ state, detail });
});

it("skips the checks of an unreachable database", async () => {
  for (const variables of [
    { DATABASE_URL: "postgres://x@127.0.0.1:9/x" },
    { DATABASE_URL: "", EMBEDDED_IN_PRODUCTION: "on" },
  ]) {
    const findings = await checkProductionDatabase(readConfig({ ...READY, ...variables }));
    expect(findings.map(({ state }) => state)).toEqual(["skipped", "skipped", "skipped", "skipped"]);
  }
});
