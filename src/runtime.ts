import plans from "../plans.config.ts";
import { SLOTS } from "./domain/slot.ts";
import { type EmbeddedSecrets, embeddedSecrets } from "./embedded-secrets.ts";
import type { Environment } from "./env.ts";
import { createIntake } from "./intake/create-intake.ts";
import type { Intake, Milestone } from "./intake/intake.ts";
import type { Log } from "./log.ts";
import { ADAPTERS } from "./providers/formats.ts";
import { bindSlots } from "./providers/slots.ts";
import { type Database, openDatabase } from "./store/database.ts";
import { startEmbeddedPostgres } from "./store/embedded.ts";
import { isMigrated, migrate } from "./store/migrate.ts";
import { untilReachable } from "./store/until-reachable.ts";

/** Everything that a process of Tollgate works with, wired as the environment says. */
export type Runtime = {
  database: Database;
  intake: Intake;
  /** The embedded mode's own, or `null` when the operator brings a database and secrets. */
  embedded: EmbeddedSecrets | null;
  /** Whether the database answers and its schema is up to date. Never throws. */
  isReady(): Promise<boolean>;
  /** Finishes what runs, then lets go of the database. */
  close(): Promise<void>;
};

export type RuntimeOptions = {
  log: Log;
  /** How long to wait for a database that does not answer yet, in milliseconds. */
  reachWithinMs?: number;
  reached?: (milestone: Milestone) => void | Promise<void>;
};

const MAX_CONNECTIONS = 10;
const SHORTEST_ANSWER_TIMEOUT_MS = 5_000;
/** Others may be migrating, and a migration of a large table takes its time. */
const MIGRATION_TIMEOUT_MS = 30 * 60 * 1000;

export async function startRuntime(environment: Environment, options: RuntimeOptions): Promise<Runtime> {
  const isEmbedded = environment.databaseUrl === null;
  const embedded = isEmbedded ? await embeddedSecrets(environment.dataDir) : null;
  const postgres = isEmbedded ? await startEmbeddedPostgres(environment.dataDir) : null;
  const connecting = {
    url: environment.databaseUrl ?? (postgres?.url as string),
    prepared: environment.preparedStatements,
  };
  const database = openDatabase({
    ...connecting,
    maxConnections: MAX_CONNECTIONS,
    answerTimeoutMs: Math.max(SHORTEST_ANSWER_TIMEOUT_MS, (environment.webhook.leaseSeconds * 1000) / 3),
  });
  // From here on connected: an embedded database is stopped by whoever leaves it alone.
  await untilReachable(database, options.reachWithinMs, (forMs) =>
    options.log.warn({ forSeconds: forMs / 1000 }, "the database does not answer yet: waiting"),
  );
  await bringUpToDate(connecting, options.log);

  const intake = createIntake({
    database,
    plans,
    adapters: ADAPTERS,
    slots: bindSlots((slot) => ({
      format: environment.slots[slot].format,
      secrets: environment.slots[slot].secrets ?? [embedded?.webhookSecrets[slot] ?? []].flat(),
    })),
    leaseSeconds: environment.webhook.leaseSeconds,
    toleranceSeconds: environment.webhook.toleranceSeconds,
    log: options.log,
    ...(options.reached ? { reached: options.reached } : {}),
  });
  return {
    database,
    intake,
    embedded,
    isReady: () => isMigrated(database).catch(() => false),
    close: async () => {
      await intake.idle();
      await database.close();
      await postgres?.stop();
    },
  };
}

/** On a connection of its own, with the patience that a migration needs and a delivery must not have. */
async function bringUpToDate(connecting: { url: string; prepared: boolean }, log: Log): Promise<void> {
  const database = openDatabase({ ...connecting, maxConnections: 1, answerTimeoutMs: MIGRATION_TIMEOUT_MS });
  try {
    const run = await migrate(database);
    if (run.length > 0) log.info({ migrations: run }, "database schema brought up to date");
  } finally {
    await database.close();
  }
}

/** Tells the operator at the start what would otherwise be found out by the first refused delivery. */
export function warnOfMissingSecrets(environment: Environment, runtime: Runtime, log: Log): void {
  for (const slot of SLOTS) {
    if (runtime.intake.slots[slot].secrets.length > 0) continue;
    log.warn(
      { slot },
      `${environment.slots[slot].secretVariable} is not set: every delivery to ${slot} is refused`,
    );
  }
}
