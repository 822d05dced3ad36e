import { z } from "zod";
import { SLOTS, type Slot } from "./domain/slot.ts";
import { WIRE_FORMATS, type WireFormat } from "./providers/adapter.ts";

const wholeNumber = (min: number, max: number, example: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, `expected a whole number, e.g. ${example}`)
    .transform(Number)
    .refine((n) => n >= min && n <= max, `expected a number from ${min} to ${max}, e.g. ${example}`);

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

const Variables = z.object({
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
  APP_URL: url(["http:", "https:"], "https://app.example.com").optional(),
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
  slots: Record<Slot, SlotEnvironment>;
  webhook: { toleranceSeconds: number; leaseSeconds: number; maxBytes: number };
};

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

  const values = parsed.data;
  return {
    host: values.HOST,
    port: values.PORT,
    dataDir: values.DATA_DIR,
    databaseUrl: values.DATABASE_URL ?? null,
    preparedStatements: values.DATABASE_PREPARED === "on",
    appUrl: (values.APP_URL ?? `http://localhost:${values.PORT}`).replace(/\/+$/, ""),
    authSecret: values.AUTH_SECRET ?? null,
    logLevel: values.LOG_LEVEL,
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

function inOneLine(issue: z.core.$ZodIssue): string {
  return `${issue.path.join(".")}: ${issue.message}`;
}
