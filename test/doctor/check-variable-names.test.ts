import { expect, it } from "vitest";
import { checkVariableNames } from "../../src/doctor/check-variable-names.ts";

it.each([
  ["DELIVERY_RETENTION_DAY", "DELIVERY_RETENTION_DAYS"],
  ["REQUIRE_ADMIN_2AF", "REQUIRE_ADMIN_2FA"],
  ["PROVIDER_A_WEBHOOK_SECRETS", "PROVIDER_A_WEBHOOK_SECRET"],
  ["TRUSTED_PROXY", "TRUSTED_PROXIES"],
  ["EMAIL_FROM", "MAIL_FROM"],
  ["REDIS_URI", "REDIS_URL"],
  ["smtp_url", "SMTP_URL"],
  ["SMPT_URL", "SMTP_URL"],
  ["MAIL_FORM", "MAIL_FROM"],
  ["REIDS_URL", "REDIS_URL"],
])("warns of %s, which leaves %s at its default", (name, meant) => {
  const variables = { PATH: "/usr/bin", [name]: "secret" };
  const detail = `${name} is not a variable of Tollgate, and ${meant} is not set`;
  const remedy = `Call it ${meant}, if that is meant.`;
  expect(checkVariableNames(variables)).toEqual([{ check: "variables", state: "warning", detail, remedy }]);
  expect(checkVariableNames({ ...variables, [meant]: "set" })).toEqual([]);
});

it("takes no other program's variable for a misspelt one", () => {
  const others = [
    ...[
      "HOSTNAME",
      "BASE_URL",
      "API_URL",
      "SMTP_USER",
      "SMTP_HOST",
      "POSTGRES_URL",
      "REDIS_TLS_URL",
      "SESSION_SECRET",
    ],
    ...["NODE_OPTIONS", "NODE_EXTRA_CA_CERTS", "OTEL_TRACES_EXPORTER", "OTEL_EXPORTER_OTLP_TIMEOUT"],
    ...["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_METRICS_EXPORTER", "JWT_SECRET", "POSTGRES_PASSWORD"],
  ];
  expect(checkVariableNames(Object.fromEntries(others.map((name) => [name, "x"])))).toEqual([]);
  expect(checkVariableNames(process.env)).toEqual([]);
});
