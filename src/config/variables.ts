import { z } from "zod";
import { SLOTS, type Slot, variablePrefix } from "../domain/slot.ts";
import { SAMPLERS } from "../domain/tracing.ts";
import { wireFormats } from "../providers/registry.ts";
import {
  apiKey,
  baseUrl,
  bearerToken,
  databaseUrl,
  headers,
  host,
  keyValues,
  oneOf,
  origin,
  origins,
  redisUrls,
  secrets,
  sender,
  share,
  smtpUrl,
  wholeNumber,
} from "./kinds.ts";
import { outboundAllow } from "./outbound-allow.ts";
import { RATE_LIMITS } from "./rate-limits.ts";
import { trustedProxies } from "./trusted-proxies.ts";

/** Evaluated when variables are read, so that providers can be registered before. */
const wireFormat = z.string().refine((format) => wireFormats().includes(format), {
  error: () => `expected one of ${wireFormats().join(", ")}, e.g. ${wireFormats()[0]}`,
});
const apiUrl = baseUrl("https://api.stripe.com").optional();

/** The provider of each slot, unless its `PROVIDER_A_ADAPTER` names another. */
export const DEFAULT_FORMATS: Readonly<Record<Slot, string>> = {
  "provider-a": "stripe",
  "provider-b": "paddle",
  "provider-c": "polar",
};

/** Every variable with its kind and its default. */
export const Variables = z.object({
  ...RATE_LIMITS,
  RATE_LIMIT_MEMORY_KEYS: wholeNumber(1, 10_000_000, 100_000).default(100_000),
  PORT: wholeNumber(0, 65_535, 3000).default(3000),
  HOST: host.default("127.0.0.1"),
  DATA_DIR: z
    .string()
    .regex(/^[^\0]{1,4096}$/, "expected a folder, e.g. /var/lib/tollgate")
    .default(".data"),
  DATABASE_URL: databaseUrl.optional(),
  EMBEDDED_IN_PRODUCTION: oneOf(["off", "on"]).default("off"),
  DATABASE_PREPARED: oneOf(["on", "off"]).default("on"),
  REDIS_URL: redisUrls.optional(),
  TRUSTED_PROXIES: trustedProxies.optional(),
  METRICS_TOKEN: bearerToken.optional(),
  CRON_SECRET: bearerToken.optional(),
  SMTP_URL: smtpUrl.optional(),
  MAIL_FROM: sender.default("Tollgate <no-reply@localhost>"),
  REQUIRE_EMAIL_CONFIRMATION: oneOf(["off", "on"]).default("off"),
  REQUIRE_ADMIN_2FA: oneOf(["off", "on"]).default("off"),
  DELIVERY_RETENTION_DAYS: wholeNumber(7, 36_500, 90).default(90),
  AUDIT_RETENTION_DAYS: wholeNumber(30, 3_650, 365).default(365),
  AI_BASE_URL: baseUrl("https://api.example.com/v1").optional(),
  AI_API_KEY: apiKey.optional(),
  AI_MODEL: z.string().max(200, "expected at most 200 characters, e.g. llama-3.3-70b").optional(),
  AI_MAX_OUTPUT_TOKENS: wholeNumber(1, 1_000_000, 4_096).default(4_096),
  GRAPHQL: oneOf(["on", "off"]).default("on"),
  GRAPHQL_INTROSPECTION: oneOf(["on", "off"]).optional(),
  NODE_ENV: oneOf(["production", "development", "test"]).optional(),
  DEPRECATION_FORMAT: oneOf(["simple", "rfc"]).default("simple"),
  APP_URL: origin.optional(),
  CORS_ORIGINS: origins.optional(),
  RETURN_ORIGINS: origins.optional(),
  AUTH_SECRET: z
    .string()
    .min(32, "expected at least 32 random characters, e.g. the output of: openssl rand -base64 32")
    .optional(),
  OUTBOUND_ALLOW: outboundAllow.optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: baseUrl("http://localhost:4318").optional(),
  OTEL_EXPORTER_OTLP_PROTOCOL: oneOf(["http/protobuf"]).optional(),
  OTEL_EXPORTER_OTLP_HEADERS: headers.optional(),
  OTEL_SERVICE_NAME: z
    .string()
    .max(255, "expected at most 255 characters, e.g. tollgate")
    .default("tollgate"),
  OTEL_RESOURCE_ATTRIBUTES: keyValues("deployment.environment.name=production").optional(),
  OTEL_TRACES_SAMPLER: oneOf(SAMPLERS).default("parentbased_always_on"),
  OTEL_TRACES_SAMPLER_ARG: share.default(1),
  OTEL_BSP_SCHEDULE_DELAY: wholeNumber(1, 600_000, 5_000).default(5_000),
  LOG_LEVEL: oneOf(["info", "debug", "warn", "error", "silent"]).default("info"),
  ACTIVE_PROVIDER: oneOf(SLOTS).default("provider-a"),
  PROVIDER_A_WEBHOOK_SECRET: secrets.optional(),
  PROVIDER_B_WEBHOOK_SECRET: secrets.optional(),
  PROVIDER_C_WEBHOOK_SECRET: secrets.optional(),
  PROVIDER_A_ADAPTER: wireFormat.default(DEFAULT_FORMATS["provider-a"]),
  PROVIDER_B_ADAPTER: wireFormat.default(DEFAULT_FORMATS["provider-b"]),
  PROVIDER_C_ADAPTER: wireFormat.default(DEFAULT_FORMATS["provider-c"]),
  PROVIDER_A_API_KEY: apiKey.optional(),
  PROVIDER_B_API_KEY: apiKey.optional(),
  PROVIDER_C_API_KEY: apiKey.optional(),
  PROVIDER_A_API_URL: apiUrl,
  PROVIDER_B_API_URL: apiUrl,
  PROVIDER_C_API_URL: apiUrl,
  PLANS_PRICE_IDS: z.string().optional(),
  SIMULATOR: oneOf(["on", "off"]).optional(),
  SIMULATOR_PORT: wholeNumber(0, 65_535, 3001).default(3001),
  RECONCILE: oneOf(["on", "off"]).default("on"),
  RECONCILE_EVERY_SECONDS: wholeNumber(1, 86_400, 60).default(60),
  SELF_HEAL: oneOf(["on", "off"]).default("on"),
  WEBHOOK_TOLERANCE_SECONDS: wholeNumber(1, 86_400, 300).default(300),
  WEBHOOK_LEASE_SECONDS: wholeNumber(1, 3_600, 30).default(30),
  WEBHOOK_MAX_BYTES: wholeNumber(100, 64 * 1024 * 1024, 1_048_576).default(1_048_576),
});

export type Values = z.output<typeof Variables>;

/** Errors about contradicting variables, one line each. */
export function contradictionsIn(values: Values): string[] {
  const wrong: string[] = [];
  if (values.AI_BASE_URL && !values.AI_MODEL) {
    wrong.push("AI_MODEL: required when AI_BASE_URL is set, e.g. llama-3.3-70b");
  }
  if (values.REQUIRE_EMAIL_CONFIRMATION === "on" && !values.SMTP_URL) {
    const example = "smtps://user:password@smtp.example.com";
    wrong.push(`SMTP_URL: required when REQUIRE_EMAIL_CONFIRMATION is on, e.g. ${example}`);
  }
  for (const name of SLOTS.map(variablePrefix)) {
    if (!values[`${name}_API_URL`] || values[`${name}_API_KEY`]) continue;
    wrong.push(`${name}_API_KEY: required when ${name}_API_URL is set, e.g. sk_test_ and what follows`);
  }
  if (values.NODE_ENV === "production" && !values.DATABASE_URL && values.EMBEDDED_IN_PRODUCTION === "off") {
    const example = "postgres://user:password@localhost:5432/tollgate";
    wrong.push(
      `DATABASE_URL: required with NODE_ENV=production, e.g. ${example}; the embedded database has no backups and serves one machine: EMBEDDED_IN_PRODUCTION=on accepts that`,
    );
  }
  return wrong;
}
