import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, it } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { checkProduction, PRODUCTION_CHECKS } from "../../src/doctor/check-production.ts";

const READY = {
  NODE_ENV: "production",
  DATABASE_URL: "postgres://tollgate@db.example.com/tollgate",
  AUTH_SECRET: "only-for-tests-and-long-enough-to-be-taken",
  APP_URL: "https://billing.example.com",
  PROVIDER_A_API_KEY: "sk_live_0123456789",
  SMTP_URL: "smtps://mail.example.com",
  REQUIRE_EMAIL_CONFIRMATION: "on",
  REQUIRE_ADMIN_2FA: "on",
  REDIS_URL: "redis://redis.example.com",
  METRICS_TOKEN: "a-token-of-sixteen-or-more",
};

const stateOf = (check: string, variables: Record<string, string>) =>
  checkProduction(readConfig(variables)).find((finding) => finding.check === check)?.state;

it("finds nothing to do when everything is set for production", () => {
  const findings = checkProduction(readConfig(READY));
  // Whether the pages are built depends on what else was run.
  const others = findings.filter(({ check }) => check !== "built pages");
  expect(others.filter(({ state }) => state !== "good")).toEqual([]);
});

it.each([
  ["NODE_ENV", { NODE_ENV: "development" }, "broken"],
  ["own database", { DATABASE_URL: "", EMBEDDED_IN_PRODUCTION: "on" }, "broken"],
  ["public origin", { APP_URL: "http://billing.example.com" }, "broken"],
  ["public origin", { APP_URL: "https://localhost:3000" }, "broken"],
  ["simulator", { SIMULATOR: "on" }, "broken"],
  ["live keys", { PROVIDER_A_API_KEY: "sk_test_0123456789" }, "broken"],
  ["live keys", { PROVIDER_B_API_KEY: "pdl_sdbx_apikey_0123456789" }, "broken"],
  [
    "live keys",
    { PROVIDER_C_API_KEY: "polar_oat_1", PROVIDER_C_API_URL: "https://sandbox-api.polar.sh" },
    "broken",
  ],
  ["mail", { SMTP_URL: "", REQUIRE_EMAIL_CONFIRMATION: "off" }, "broken"],
  ["confirmed addresses", { REQUIRE_EMAIL_CONFIRMATION: "off" }, "warning"],
  ["administrators' second factor", { REQUIRE_ADMIN_2FA: "off" }, "warning"],
  ["shared limits", { REDIS_URL: "" }, "warning"],
  ["self-healing", { SELF_HEAL: "off" }, "warning"],
  ["self-healing", { RECONCILE: "off" }, "warning"],
  ["metrics", { METRICS_TOKEN: "" }, "warning"],
  ["introspection", { GRAPHQL_INTROSPECTION: "on" }, "warning"],
  ["log level", { LOG_LEVEL: "debug" }, "warning"],
])("reports %s with %o", (check, variables, state) => {
  expect(stateOf(check, { ...READY, ...variables } as unknown as Record<string, string>)).toBe(state);
});

it("has a row for each check in the checklist", () => {
  const page = readFileSync(resolve(import.meta.dirname, "../../docs/production-checklist.md"), "utf8");
  const [, section = ""] = page.split(/^## /m);
  const rows = [...section.matchAll(/^\| `([^`]+)` \|/gm)].map(([, check]) => check);
  expect(rows).toEqual(PRODUCTION_CHECKS);
});
