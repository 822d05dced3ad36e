import type { z } from "zod";
import type { PlanCatalog } from "../domain/plans/plan.ts";
import type { Slot } from "../domain/slot.ts";
import type { TracingSettings } from "../domain/tracing.ts";
import type { TrustedProxies } from "../http/client-address.ts";
import type { Policies } from "../limits/policies.ts";
import { ConfigError } from "./config-error.ts";
import type { OutboundAllowList } from "./outbound-allow.ts";
import { readSimulator, readSlots, type SlotConfig } from "./payment-slots.ts";
import { readPlans } from "./price-ids.ts";
import { readRateLimits, unknownRateLimit } from "./rate-limits.ts";
import { readTracing } from "./tracing.ts";
import { contradictionsIn, Variables } from "./variables.ts";

export type Config = {
  host: string;
  port: number;
  dataDir: string;
  /** `null`: an embedded PostgreSQL in `dataDir`. */
  databaseUrl: string | null;
  preparedStatements: boolean;
  /** The public origin, without a slash at the end. */
  appUrl: string;
  /** Other origins whose pages may call the API with users' keys. */
  corsOrigins: readonly string[];
  /** Where checkouts and portals that programs open may return to. */
  returnOrigins: readonly string[];
  authSecret: string | null;
  isProduction: boolean;
  logLevel: string;
  /** `null`: counts are kept in memory. Several are nodes of one cluster. */
  redisUrls: readonly string[] | null;
  rateLimits: Policies;
  rateLimitMemoryKeys: number;
  trustedProxies: TrustedProxies;
  /** OpenTelemetry traces; `null`: none. */
  tracing: TracingSettings | null;
  /** `null`: there is no `/api/metrics`. */
  metricsToken: string | null;
  /** `null`: there are no `/api/cron/<job>`. */
  cronSecret: string | null;
  mail: { smtpUrl: string | null; from: string; requireConfirmation: boolean };
  /** Whether administrators must have a second factor. */
  requireAdminTwoFactor: boolean;
  /** Payloads of settled deliveries are deleted afterwards; event ids are kept for ever. */
  deliveryRetentionDays: number;
  auditRetentionDays: number;
  /** `null`: not configured. */
  chat: { baseUrl: string; apiKey: string | null; model: string; maxOutputTokens: number } | null;
  deprecationFormat: "simple" | "rfc";
  /** Introspection and GraphiQL show the whole schema to everybody. */
  graphql: { enabled: boolean; introspection: boolean };
  slots: Record<Slot, SlotConfig>;
  /** The plans for sale, with the price ids of this environment. */
  plans: PlanCatalog;
  /** The slot for new checkouts. */
  activeProvider: Slot;
  /** The simulated payment provider, for slots without a key; `null`: off. Port 0: any free port. */
  simulator: { port: number } | null;
  /** The nightly comparison, and how often the sweep searches for missed events; `null`: off. */
  reconcile: { everySeconds: number } | null;
  /** Whether a subscription is compared with its provider as soon as a delivery flags it as out of order. */
  selfHeal: boolean;
  /** Where outbound events may go besides public https addresses. */
  outboundAllow: OutboundAllowList;
  webhook: { toleranceSeconds: number; leaseSeconds: number; maxBytes: number };
};

const BYTE_ORDER_MARK = "\uFEFF";

/**
 * Reads and checks all variables at once. An empty variable counts as unset, and white space around a value
 * does not count. @throws ConfigError
 */
export function readConfig(variables: Record<string, string | undefined>): Config {
  // Kept by Node and systemd in the name on a file's first line, which would count as unset.
  const marked = Object.keys(variables).find((name) => name.startsWith(BYTE_ORDER_MARK));
  if (marked !== undefined) {
    const name = marked.slice(BYTE_ORDER_MARK.length);
    throw new ConfigError(
      `${name}: its name begins with a byte order mark: save the file of the variables as UTF-8 without BOM`,
    );
  }
  // Read from a file with Windows line ends, every value ends with a carriage return.
  const present = Object.fromEntries(
    Object.entries(variables).flatMap(([name, value]) => (value?.trim() ? [[name, value.trim()]] : [])),
  );
  const quoted = Object.keys(Variables.shape).find((name) => /^(["']).*\1$/s.test(present[name] ?? ""));
  // Kept by "docker run --env-file", for one: a secret with quotes would refuse every delivery.
  if (quoted !== undefined)
    throw new ConfigError(`${quoted}: remove the quotes around it, e.g. ${quoted}=value`);
  const commented = Object.keys(Variables.shape).find(
    (name) => !MAY_CONTAIN_NUMBER_SIGN.has(name) && /\s#/.test(present[name] ?? ""),
  );
  // Kept by systemd and by "docker run --env-file"; others drop it.
  if (commented !== undefined)
    throw new ConfigError(`${commented}: remove the comment after it, e.g. ${commented}=value`);
  const parsed = Variables.safeParse(present);
  if (!parsed.success) throw new ConfigError(parsed.error.issues.map(inOneLine).join("\n"));
  const problem = unknownRateLimit(present);
  if (problem !== null) throw new ConfigError(problem);

  const values = parsed.data;
  const contradictions = contradictionsIn(values);
  if (contradictions.length > 0) throw new ConfigError(contradictions.join("\n"));
  const appUrl = values.APP_URL ?? new URL(`http://localhost:${values.PORT}`).origin;
  const simulator = readSimulator(values, appUrl);
  if (simulator !== null && simulator.port !== 0 && simulator.port === values.PORT) {
    throw new ConfigError(`SIMULATOR_PORT: is the same as PORT, e.g. ${values.PORT + 1}`);
  }
  const isProduction = values.NODE_ENV === "production";
  return {
    host: values.HOST,
    port: values.PORT,
    dataDir: values.DATA_DIR,
    databaseUrl: values.DATABASE_URL ?? null,
    preparedStatements: values.DATABASE_PREPARED === "on",
    appUrl,
    corsOrigins: values.CORS_ORIGINS ?? [],
    returnOrigins: values.RETURN_ORIGINS ?? [appUrl],
    authSecret: values.AUTH_SECRET ?? null,
    isProduction,
    logLevel: values.LOG_LEVEL,
    redisUrls: values.REDIS_URL ?? null,
    rateLimits: readRateLimits(values),
    rateLimitMemoryKeys: values.RATE_LIMIT_MEMORY_KEYS,
    trustedProxies: values.TRUSTED_PROXIES ?? { hops: 0 },
    tracing: readTracing(values),
    metricsToken: values.METRICS_TOKEN ?? null,
    cronSecret: values.CRON_SECRET ?? null,
    mail: {
      smtpUrl: values.SMTP_URL ?? null,
      from: values.MAIL_FROM,
      requireConfirmation: values.REQUIRE_EMAIL_CONFIRMATION === "on",
    },
    requireAdminTwoFactor: values.REQUIRE_ADMIN_2FA === "on",
    deliveryRetentionDays: values.DELIVERY_RETENTION_DAYS,
    auditRetentionDays: values.AUDIT_RETENTION_DAYS,
    chat: values.AI_BASE_URL
      ? {
          baseUrl: values.AI_BASE_URL,
          apiKey: values.AI_API_KEY ?? null,
          model: values.AI_MODEL as string,
          maxOutputTokens: values.AI_MAX_OUTPUT_TOKENS,
        }
      : null,
    deprecationFormat: values.DEPRECATION_FORMAT,
    graphql: {
      enabled: values.GRAPHQL === "on",
      introspection: (values.GRAPHQL_INTROSPECTION ?? (isProduction ? "off" : "on")) === "on",
    },
    slots: readSlots(values),
    plans: readPlans(values.PLANS_PRICE_IDS),
    activeProvider: values.ACTIVE_PROVIDER,
    simulator,
    reconcile: values.RECONCILE === "on" ? { everySeconds: values.RECONCILE_EVERY_SECONDS } : null,
    selfHeal: values.SELF_HEAL === "on",
    outboundAllow: values.OUTBOUND_ALLOW ?? { hosts: [], ranges: [] },
    webhook: {
      toleranceSeconds: values.WEBHOOK_TOLERANCE_SECONDS,
      leaseSeconds: values.WEBHOOK_LEASE_SECONDS,
      maxBytes: values.WEBHOOK_MAX_BYTES,
    },
  };
}

/** A person's name, and JSON. */
const MAY_CONTAIN_NUMBER_SIGN: ReadonlySet<string> = new Set(["MAIL_FROM", "PLANS_PRICE_IDS"]);

/**
 * With `DATABASE_URL`, several servers may share sessions, so that none may generate the secret. @throws
 * ConfigError
 */
export function requireAuthSecret(config: Config): void {
  if (config.databaseUrl === null || config.authSecret !== null) return;
  throw new ConfigError(
    "AUTH_SECRET: required when DATABASE_URL is set, e.g. the output of: openssl rand -base64 32",
  );
}

function inOneLine(issue: z.core.$ZodIssue): string {
  return `${issue.path.join(".")}: ${issue.message}`;
}
