import { isIP } from "node:net";
import { z } from "zod";
import { SLOTS, type Slot } from "./domain/slot.ts";
import { DEFAULT_POLICIES, type Limit, type Policies, SCOPES, type Scope } from "./limits/policies.ts";
import { WIRE_FORMATS, type WireFormat } from "./providers/adapter.ts";

const wholeNumber = (min: number, max: number, example: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, `expected a whole number, e.g. ${example}`)
    .transform(Number)
    .refine((n) => n >= min && n <= max, `expected a number from ${min} to ${max}, e.g. ${example}`);

/** Scheme, host and port; what comes behind would go wrong in links and in comparisons. */
const origin = z
  .string()
  .refine((text) => {
    const parsed = URL.parse(text);
    if (!parsed || !/^https?:$/.test(parsed.protocol) || parsed.username || parsed.password) return false;
    return (
      `${parsed.pathname}${parsed.search}${parsed.hash}` === "/" && !text.includes("?") && !text.includes("#")
    );
  }, "expected an origin without a path, such as https://app.example.com")
  .transform((text) => new URL(text).origin);

const url = (protocols: readonly string[], example: string) =>
  z.string().refine((text) => {
    const parsed = URL.parse(text);
    return parsed !== null && protocols.includes(parsed.protocol);
  }, `expected a URL such as ${example}`);

const oneOf = <const Words extends readonly [string, ...string[]]>(words: Words) =>
  z.enum(words, `expected one of ${words.join(", ")}, e.g. ${words[0]}`);

/** One or several, comma-separated; white space round a secret is not part of it. */
const secrets = z
  .string()
  .transform((text) => text.split(",").map((secret) => secret.trim()))
  .refine((list) => list.every((secret) => secret !== ""), {
    error: "has an empty secret between commas, e.g. whsec_new,whsec_old",
  });

/** One node, or several of one cluster. */
const redisUrls = z
  .string()
  .transform((text) => text.split(",").map((one) => one.trim()))
  .refine(
    (urls) => urls.every((one) => /^rediss?:$/.test(URL.parse(one)?.protocol ?? "")),
    "expected a URL such as redis://localhost:6379, or several of one cluster with commas between them",
  );

/** `limit/windowSeconds` */
const rateLimit = z
  .string()
  .regex(/^[1-9]\d{0,5}\/[1-9]\d{0,4}$/, "expected limit/windowSeconds, e.g. 30/60")
  .transform((text): Limit => {
    const [limit, windowSeconds] = text.split("/").map(Number) as [number, number];
    return { limit, windowSeconds };
  })
  .optional();

const RATE_LIMITS = Object.fromEntries(SCOPES.map((scope) => [rateLimitVariable(scope), rateLimit]));

/** A count of hops, or addresses and ranges of them. */
const trustedProxies = z.string().transform((text, context): TrustedProxies => {
  if (/^\d{1,2}$/.test(text.trim())) return { hops: Number(text) };
  const ranges = text.split(",").map((range) => range.trim());
  for (const range of ranges) {
    if (isRange(range)) continue;
    context.addIssue({
      code: "custom",
      message: "expected a hop count or CIDRs, e.g. 1 or 10.0.0.0/8,fd00::/8",
    });
    return z.NEVER;
  }
  return { ranges };
});

function isRange(text: string): boolean {
  const [address = "", prefix, more] = text.split("/");
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] as number;
  if (more !== undefined || bits < 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits);
}

const Variables = z.object({
  ...RATE_LIMITS,
  PORT: wholeNumber(0, 65_535, 3000).default(3000),
  HOST: z
    .string()
    .regex(/^[\w.:-]+$/, "expected a host name or address, e.g. 127.0.0.1")
    .default("127.0.0.1"),
  DATA_DIR: z.string().default(".data"),
  DATABASE_URL: url(
    ["postgres:", "postgresql:"],
    "postgres://user:password@localhost:5432/tollgate",
  ).optional(),
  DATABASE_PREPARED: oneOf(["on", "off"]).default("on"),
  REDIS_URL: redisUrls.optional(),
  TRUSTED_PROXIES: trustedProxies.optional(),
  METRICS_TOKEN: z
    .string()
    .min(16, "expected at least 16 characters, e.g. the output of: openssl rand -hex 24")
    .optional(),
  SMTP_URL: url(["smtp:", "smtps:"], "smtps://user:password@smtp.example.com").optional(),
  MAIL_FROM: z.string().max(320).default("Tollgate <no-reply@localhost>"),
  REQUIRE_EMAIL_CONFIRMATION: oneOf(["off", "on"]).default("off"),
  AI_BASE_URL: url(["http:", "https:"], "https://api.example.com/v1").optional(),
  AI_API_KEY: z.string().optional(),
  AI_MODEL: z.string().max(200).optional(),
  GRAPHQL: oneOf(["on", "off"]).default("on"),
  GRAPHQL_INTROSPECTION: oneOf(["on", "off"]).optional(),
  NODE_ENV: z.string().optional(),
  DEPRECATION_FORMAT: oneOf(["simple", "rfc"]).default("simple"),
  APP_URL: origin.optional(),
  AUTH_SECRET: z
    .string()
    .min(32, "expected at least 32 random characters, e.g. the output of: openssl rand -base64 32")
    .optional(),
  LOG_LEVEL: oneOf(["info", "debug", "warn", "error", "silent"]).default("info"),
  PROVIDER_A_WEBHOOK_SECRET: secrets.optional(),
  PROVIDER_B_WEBHOOK_SECRET: secrets.optional(),
  PROVIDER_C_WEBHOOK_SECRET: secrets.optional(),
  PROVIDER_A_ADAPTER: oneOf(WIRE_FORMATS).default("stripe"),
  PROVIDER_B_ADAPTER: oneOf(WIRE_FORMATS).default("paddle"),
  PROVIDER_C_ADAPTER: oneOf(WIRE_FORMATS).default("polar"),
  WEBHOOK_TOLERANCE_SECONDS: wholeNumber(1, 86_400, 300).default(300),
  WEBHOOK_LEASE_SECONDS: wholeNumber(1, 3_600, 30).default(30),
  WEBHOOK_MAX_BYTES: wholeNumber(1_024, 64 * 1024 * 1024, 1_048_576).default(1_048_576),
});

export type Environment = {
  host: string;
  port: number;
  dataDir: string;
  /** `null`: an embedded PostgreSQL in `dataDir`. */
  databaseUrl: string | null;
  preparedStatements: boolean;
  /** The public origin, without a slash at the end. */
  appUrl: string;
  authSecret: string | null;
  logLevel: string;
  /** `null`: counts are kept in memory. Several are nodes of one cluster. */
  redisUrls: readonly string[] | null;
  rateLimits: Policies;
  trustedProxies: TrustedProxies;
  /** `null`: there is no `/api/metrics`. */
  metricsToken: string | null;
  mail: { smtpUrl: string | null; from: string; requireConfirmation: boolean };
  /** `null`: not configured. */
  chat: { baseUrl: string; apiKey: string | null; model: string } | null;
  deprecationFormat: "simple" | "rfc";
  /** Introspection and its reader show the whole schema to everybody. */
  graphql: { enabled: boolean; introspection: boolean };
  slots: Record<Slot, SlotEnvironment>;
  webhook: { toleranceSeconds: number; leaseSeconds: number; maxBytes: number };
};

/** Whose word on the client's address is taken: that of so many proxies nearest to us, or of those in the ranges. */
export type TrustedProxies = { hops: number } | { ranges: readonly string[] };

type SlotEnvironment = {
  /** The variable to set, for messages. */
  secretVariable: string;
  /** `null`: not configured. */
  secrets: readonly string[] | null;
  format: WireFormat;
};

/** One line for the person who starts it: which variable, what is wrong, and an example. */
export class BadEnvironment extends Error {
  override name = "BadEnvironment";
}

/** Reads and checks all variables at once. A variable set to nothing counts as not set. @throws BadEnvironment */
export function readEnvironment(variables: Record<string, string | undefined>): Environment {
  const given = Object.fromEntries(Object.entries(variables).filter(([, value]) => value?.trim()));
  const parsed = Variables.safeParse(given);
  if (!parsed.success) throw new BadEnvironment(parsed.error.issues.map(inOneLine).join("\n"));

  refuseUnknownLimits(given);
  const values = parsed.data;
  if (values.AI_BASE_URL && !values.AI_MODEL) {
    throw new BadEnvironment("AI_MODEL: required when AI_BASE_URL is set, e.g. llama-3.3-70b");
  }
  if (values.REQUIRE_EMAIL_CONFIRMATION === "on" && !values.SMTP_URL) {
    throw new BadEnvironment(
      "SMTP_URL: required when REQUIRE_EMAIL_CONFIRMATION is on, e.g. smtps://user:password@smtp.example.com",
    );
  }
  return {
    host: values.HOST,
    port: values.PORT,
    dataDir: values.DATA_DIR,
    databaseUrl: values.DATABASE_URL ?? null,
    preparedStatements: values.DATABASE_PREPARED === "on",
    appUrl: values.APP_URL ?? `http://localhost:${values.PORT}`,
    authSecret: values.AUTH_SECRET ?? null,
    logLevel: values.LOG_LEVEL,
    redisUrls: values.REDIS_URL ?? null,
    rateLimits: Object.fromEntries(
      SCOPES.map((scope) => [
        scope,
        (values as Record<string, unknown>)[rateLimitVariable(scope)] ?? DEFAULT_POLICIES[scope],
      ]),
    ) as Policies,
    trustedProxies: values.TRUSTED_PROXIES ?? { hops: 0 },
    metricsToken: values.METRICS_TOKEN ?? null,
    mail: {
      smtpUrl: values.SMTP_URL ?? null,
      from: values.MAIL_FROM,
      requireConfirmation: values.REQUIRE_EMAIL_CONFIRMATION === "on",
    },
    chat: values.AI_BASE_URL
      ? { baseUrl: values.AI_BASE_URL, apiKey: values.AI_API_KEY ?? null, model: values.AI_MODEL as string }
      : null,
    deprecationFormat: values.DEPRECATION_FORMAT,
    graphql: {
      enabled: values.GRAPHQL === "on",
      introspection:
        (values.GRAPHQL_INTROSPECTION ?? (values.NODE_ENV === "production" ? "off" : "on")) === "on",
    },
    slots: Object.fromEntries(
      SLOTS.map((slot) => {
        const name = slot.replace("-", "_").toUpperCase() as "PROVIDER_A" | "PROVIDER_B" | "PROVIDER_C";
        const secretVariable = `${name}_WEBHOOK_SECRET` as const;
        return [
          slot,
          { secretVariable, secrets: values[secretVariable] ?? null, format: values[`${name}_ADAPTER`] },
        ];
      }),
    ) as Record<Slot, SlotEnvironment>,
    webhook: {
      toleranceSeconds: values.WEBHOOK_TOLERANCE_SECONDS,
      leaseSeconds: values.WEBHOOK_LEASE_SECONDS,
      maxBytes: values.WEBHOOK_MAX_BYTES,
    },
  };
}

/** A server on somebody's own database must not make up the key that signs its sessions. @throws BadEnvironment */
export function requireAuthSecret(environment: Environment): void {
  if (environment.databaseUrl === null || environment.authSecret !== null) return;
  throw new BadEnvironment(
    "AUTH_SECRET: required when DATABASE_URL is set, e.g. the output of: openssl rand -base64 32",
  );
}

/** A misspelt one would leave the default in force, and nobody would know. */
function refuseUnknownLimits(given: Record<string, unknown>): void {
  const known = SCOPES.map(rateLimitVariable);
  const unknown = Object.keys(given).find((name) => name.startsWith("RATE_LIMIT_") && !known.includes(name));
  if (unknown)
    throw new BadEnvironment(
      `${unknown}: there is no such limit, only ${known.join(", ")}, e.g. RATE_LIMIT_API=30/60`,
    );
}

function rateLimitVariable(scope: Scope): string {
  return `RATE_LIMIT_${scope.replaceAll("-", "_").toUpperCase()}`;
}

function inOneLine(issue: z.core.$ZodIssue): string {
  return `${issue.path.join(".")}: ${issue.message}`;
}
