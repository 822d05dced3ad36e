import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Config } from "../config/config.ts";
import { isLoopback } from "../config/loopback.ts";
import { freePlan } from "../domain/plans/free-plan.ts";
import { SLOTS, type Slot } from "../domain/slot.ts";
import { traitsOf } from "../providers/registry.ts";
import { broken, type Finding, good, warning } from "./finding.ts";
import { isPrivateHost } from "./private-networks.ts";

type Rule = {
  check: string;
  /** `null`: as it should be. */
  problem(config: Config, inTestMode: ReadonlySet<Slot>): string | null;
  remedy: string;
  /** Whether people could lose money, access or data by it. */
  isSerious: boolean;
};

const BUILD_ID = resolve(import.meta.dirname, "../../.next/BUILD_ID");

/**
 * What must hold before strangers use the server, beyond what a trial needs; docs/production-checklist.md
 * says why.
 */
const RULES: readonly Rule[] = [
  {
    check: "NODE_ENV",
    problem: ({ isProduction }) => (isProduction ? null : "is not production"),
    remedy: "Set NODE_ENV=production.",
    isSerious: true,
  },
  {
    check: "own database",
    problem: ({ databaseUrl }) => (databaseUrl === null ? "the embedded one is for trials" : null),
    remedy: "Set DATABASE_URL to a PostgreSQL that is backed up.",
    isSerious: true,
  },
  {
    check: "public origin",
    problem: ({ appUrl }) =>
      isLoopback(appUrl) || !appUrl.startsWith("https://") ? `${appUrl} is not public https` : null,
    remedy: "Set APP_URL to the https origin that customers open.",
    isSerious: true,
  },
  {
    check: "simulator",
    problem: ({ simulator }) => (simulator === null ? null : "the payment simulator is on"),
    remedy: "Set SIMULATOR=off: whoever reaches it can give away subscriptions.",
    isSerious: true,
  },
  {
    check: "live keys",
    problem: keysNotLive,
    remedy: "Use the provider's live keys: without one nobody can check out, with a test key nobody pays.",
    isSerious: true,
  },
  {
    check: "signing secrets",
    problem: guessableSecrets,
    remedy:
      "Set secrets of at least 16 random characters, here and at the provider. To choose one yourself, run: openssl rand -hex 16",
    isSerious: true,
  },
  {
    check: "mail",
    problem: mailNotDelivered,
    remedy: "Set SMTP_URL and MAIL_FROM: without them nobody can reset a password.",
    isSerious: true,
  },
  {
    check: "encrypted mail",
    problem: mailInTheClear,
    remedy:
      "Add ?requireTLS=true to SMTP_URL, or begin it with smtps: if the server expects TLS from the start.",
    isSerious: false,
  },
  {
    check: "built pages",
    problem: () => (existsSync(BUILD_ID) ? null : "the pages are not built"),
    remedy: "Run script/build-pages once after each update.",
    isSerious: true,
  },
  {
    check: "unknown prices",
    problem: slotsWithUnknownPrices,
    remedy: 'Set unknownPrices: "refuse" in every plan of plans.config.ts, wherever it is sold.',
    isSerious: false,
  },
  {
    check: "confirmed addresses",
    problem: ({ mail }) => (mail.requireConfirmation ? null : "addresses are not confirmed at sign-up"),
    remedy: "Set REQUIRE_EMAIL_CONFIRMATION=on.",
    isSerious: false,
  },
  {
    check: "administrators' second factor",
    problem: ({ requireAdminTwoFactor }) => (requireAdminTwoFactor ? null : "a password alone is enough"),
    remedy: "Set REQUIRE_ADMIN_2FA=on.",
    isSerious: false,
  },
  {
    check: "shared limits",
    problem: ({ redisUrls }) => (redisUrls === null ? "each process counts for itself" : null),
    remedy: "Set REDIS_URL as soon as there is more than one process.",
    isSerious: false,
  },
  {
    check: "self-healing",
    problem: ({ reconcile, selfHeal }) =>
      reconcile !== null && selfHeal ? null : "lost or disordered events wait for the operator",
    remedy: "Leave RECONCILE and SELF_HEAL on.",
    isSerious: false,
  },
  {
    check: "metrics",
    problem: ({ metricsToken }) => (metricsToken === null ? "there are none" : null),
    remedy: "Set METRICS_TOKEN, and watch what docs/production-checklist.md names.",
    isSerious: false,
  },
  {
    check: "introspection",
    problem: ({ graphql }) =>
      graphql.enabled && graphql.introspection ? "shows the schema to everybody" : null,
    remedy: "Set GRAPHQL_INTROSPECTION=off.",
    isSerious: false,
  },
  {
    check: "log level",
    problem: ({ logLevel }) => (["info", "warn"].includes(logLevel) ? null : `is ${logLevel}`),
    remedy: "Set LOG_LEVEL=info: debug contains more than is needed, error hides warnings.",
    isSerious: false,
  },
];

/** The names of the checks, in order. */
export const PRODUCTION_CHECKS: readonly string[] = RULES.map(({ check }) => check);

/** @param inTestMode slots whose provider says so: a key need not show it */
export function checkProduction(config: Config, inTestMode: ReadonlySet<Slot> = new Set()): Finding[] {
  return RULES.map(({ check, problem, remedy, isSerious }) => {
    const detail = problem(config, inTestMode);
    if (detail === null) return good(check, "ready for production");
    return isSerious ? broken(check, detail, remedy) : warning(check, detail, remedy);
  });
}

function mailNotDelivered({ mail: { smtpUrl, from } }: Config): string | null {
  if (smtpUrl === null) return "mails are written to files";
  // The default of MAIL_FROM, which suits files.
  return /@localhost>?$/i.test(from) ? `mails come from ${from}, which other mail servers refuse` : null;
}

/** Links that set a password, and our own password. */
function mailInTheClear({ mail: { smtpUrl } }: Config): string | null {
  if (smtpUrl === null) return null;
  const { protocol, hostname, searchParams } = new URL(smtpUrl);
  if (protocol === "smtps:" || searchParams.get("requireTLS") === "true") return null;
  const host = hostname.replace(/^\[|\]$/g, "");
  return isPrivateHost(host)
    ? null
    : `goes to ${host} without TLS if the server, or somebody on the way, offers none`;
}

function keysNotLive({ slots }: Config, inTestMode: ReadonlySet<Slot>): string | null {
  if (SLOTS.every((slot) => slots[slot].apiKey === null)) return "no slot has a provider's API key";
  const names = SLOTS.flatMap((slot) => {
    const { apiKey, apiUrl, apiKeyVariable, format } = slots[slot];
    if (apiKey === null) return [];
    const isTest = traitsOf(format).apiKey.testPrefixes.some((prefix) => apiKey.startsWith(prefix));
    return isTest || inTestMode.has(slot) || apiUrl?.includes("sandbox") ? [apiKeyVariable] : [];
  });
  return names.length === 0 ? null : `${names.join(", ")}: a test key or a sandbox`;
}

/** Metadata names any plan, whatever slot sells it. */
function slotsWithUnknownPrices({ slots, plans: { plans } }: Config): string | null {
  const free = freePlan(plans);
  const accepting = plans.filter((plan) => plan !== free && plan.unknownPrices === "accept");
  const names = SLOTS.filter((slot) => {
    const { apiKey, secrets, format } = slots[slot];
    return (apiKey !== null || secrets !== null) && traitsOf(format).buyersWriteMetadata;
  });
  if (names.length === 0 || accepting.length === 0) return null;
  const ids = accepting.map(({ id }) => id).join(", ");
  return `${names.join(", ")}: whoever buys another product of the account can name one of these plans, and has it: ${ids}`;
}

/** Providers generate longer ones, but some let people choose. */
const MIN_SECRET_LENGTH = 16;
const MIN_DISTINCT_CHARACTERS = 6;

/** Also of slots that nobody uses, and former ones kept during a rotation: whoever guesses one gives plans away. */
function guessableSecrets({ slots }: Config): string | null {
  const variables = SLOTS.filter((slot) => slots[slot].secrets?.some(canBeGuessed)).map(
    (slot) => slots[slot].secretVariable,
  );
  return variables.length === 0 ? null : `can be guessed: ${variables.join(", ")}`;
}

function canBeGuessed(secret: string): boolean {
  // Without the provider's prefix, such as "whsec_".
  const randomPart = secret.replace(/^(?:whsec|polar_whs|pdl_ntfset_[0-9a-z]+)_/, "");
  return randomPart.length < MIN_SECRET_LENGTH || new Set(randomPart).size < MIN_DISTINCT_CHARACTERS;
}
