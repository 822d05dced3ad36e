import { setTimeout as sleep } from "node:timers/promises";
import { newServiceKey } from "../auth/callers/api-key.ts";
import type { Config } from "../config/config.ts";
import { prepareDataDir } from "../config/data-dir.ts";
import { type EmbeddedSecrets, embeddedSecrets } from "../config/embedded-secrets.ts";
import { connectPayments, paymentAccess, providerAccountsOf, webhookSecrets } from "../config/payments.ts";
import type { SubscriptionHooks } from "../domain/outbound/subscription-hook.ts";
import type { Payments } from "../domain/providers/payment-api.ts";
import type { Slot } from "../domain/slot.ts";
import type { Tracing } from "../domain/tracing.ts";
import { withHooksOf } from "../intake/call-hooks.ts";
import { createIntake, INTAKE_CONNECTIONS } from "../intake/create-intake.ts";
import type { Intake, Milestone } from "../intake/intake.ts";
import { answerTimeoutMs } from "../intake/transaction-limits.ts";
import type { Log } from "../observability/log.ts";
import { type OutboundAllow, outboundAllow } from "../outbound/allowed-targets.ts";
import { ADAPTERS } from "../providers/registry.ts";
import { bindSlots, type SlotBinding } from "../providers/slots.ts";
import { acceptsWrites } from "../store/accepts-writes.ts";
import { type Database, type DatabaseOptions, openDatabase } from "../store/database.ts";
import { startEmbeddedPostgres } from "../store/embedded/embedded.ts";
import { isMigrated } from "../store/migrate.ts";
import { requestHeals } from "../store/reconciliation/heals.ts";
import { traceDatabase } from "../store/traced-database.ts";
import { waitForDatabase } from "../store/wait-for-database.ts";
import { intakeLog } from "./intake-log.ts";
import { loadHooks } from "./load-hooks.ts";
import { migrateSchema } from "./migrate-schema.ts";
import { requireEmbeddedDatabase, requireKeys, requireSchema, requireSettings } from "./require-database.ts";
import { type RunningSimulator, startSimulatedProvider } from "./simulated-provider.ts";

/** The dependencies of a Tollgate process, wired as configured. */
export type Runtime = {
  database: Database;
  /** How to open further connections to it. */
  connecting: Pick<DatabaseOptions, "url" | "prepared" | "answerTimeoutMs">;
  intake: Intake;
  /** Generated secrets; `null` with a database of the operator's own and without the simulator. */
  embedded: EmbeddedSecrets | null;
  /** Each slot's provider API; `null`: not configured. */
  payments: Payments;
  /** Identifies the account that each of them reaches, without revealing its key. */
  providerAccounts: Record<Slot, string | null>;
  activeProvider: Slot;
  /** A new secret for a service key. */
  newServiceKey: typeof newServiceKey;
  /** The public origin, to which users return from a provider. */
  appUrl: string;
  /** Where outbound events may go besides public https addresses. */
  outboundAllow: OutboundAllow;
  /** Functions of plugins that changes of subscriptions call. */
  hooks: readonly SubscriptionHooks[];
  log: Log;
  /** `null`: nothing is traced. */
  tracing: Tracing | null;
  /** The simulator's pages; `null`: it was not started here. */
  simulatorUrl: string | null;
  /** Whether the database takes the intake's writes, and its schema is up to date. Never throws. */
  isReady(): Promise<boolean>;
  /** Finishes running work, then closes the database. */
  close(): Promise<void>;
  /** Stops an embedded database, whatever uses it in this process. */
  stopDatabase(): Promise<void>;
};

export type RuntimeOptions = {
  log: Log;
  tracing?: Tracing | null;
  /** How long to wait for a database that does not respond yet, in milliseconds. */
  reachWithinMs?: number;
  /** Fails when there is no database yet, instead of creating one. */
  mustExist?: boolean;
  /** For how long in all a call to a provider may wait for its rate limit; by default not beyond its ten seconds. */
  maxLimitWaitMs?: number;
  reached?: (milestone: Milestone) => void | Promise<void>;
  /** Those of `src/plugins/` unless given. */
  hooks?: readonly SubscriptionHooks[];
  hookTimeoutMs?: number;
  /** Has the simulated provider started, where configured: the address that it delivers to. */
  deliverTo?: (slot: Slot) => string;
};

const MAX_CONNECTIONS = 10;
/** People wait for these responses, whatever the lease of the intake. */
const MAX_ANSWER_TIMEOUT_MS = 10_000;
/** For single statements outside the intake, which sets its own per transaction. */
const STATEMENT_TIMEOUT_MS = 5_000;
const READY_WITHIN_MS = 2_000;

export async function startRuntime(config: Config, options: RuntimeOptions): Promise<Runtime> {
  if (options.mustExist) requireEmbeddedDatabase(config);
  const hooks = options.hooks ?? (await loadHooks());
  const isOnOwnMachine = config.databaseUrl === null || config.simulator !== null;
  if (isOnOwnMachine) await prepareDataDir(config.dataDir);
  const embedded = isOnOwnMachine ? await embeddedSecrets(config.dataDir) : null;
  const secrets = webhookSecrets(config, embedded);
  const slots = bindSlots((slot) => ({ format: config.slots[slot].format, secrets: secrets[slot] }));
  const simulated = await startSimulatedProvider(config, embedded, slots, options);
  try {
    return await startOnDatabase(config, options, { embedded, slots, simulated, hooks });
  } catch (error) {
    await simulated?.close();
    throw error;
  }
}

type Prepared = {
  embedded: EmbeddedSecrets | null;
  slots: Record<Slot, SlotBinding>;
  simulated: RunningSimulator | null;
  hooks: readonly SubscriptionHooks[];
};

async function startOnDatabase(
  config: Config,
  options: RuntimeOptions,
  { embedded, slots, simulated, hooks }: Prepared,
): Promise<Runtime> {
  const { log, tracing = null } = options;
  const postgres = config.databaseUrl === null ? await startEmbeddedPostgres(config.dataDir) : null;
  const connecting = {
    url: config.databaseUrl ?? (postgres?.url as string),
    prepared: config.preparedStatements,
  };
  const intakeTimeoutMs = answerTimeoutMs(config.webhook);
  const timeoutMs = Math.min(MAX_ANSWER_TIMEOUT_MS, intakeTimeoutMs);
  const database = traceDatabase(
    openDatabase({
      ...connecting,
      maxConnections: MAX_CONNECTIONS,
      answerTimeoutMs: timeoutMs,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    }),
    tracing,
  );
  try {
    // Connected from here on: the last process to disconnect stops an embedded database.
    await waitForDatabase(database, options.reachWithinMs, (forMs, { message: problem }) =>
      log.warn(
        { forSeconds: forMs / 1000, problem },
        "the database does not answer, or takes no writes yet: waiting",
      ),
    );
    if (config.databaseUrl !== null) await requireSettings(database, config);
    if (options.mustExist && config.databaseUrl !== null) await requireSchema(database);
    await migrateSchema(connecting, log);
    if (config.databaseUrl !== null) await requireKeys(database);
  } catch (error) {
    // Open connections would keep a command from ending, and an embedded database from being stopped.
    await database.close();
    await postgres?.stop();
    throw error;
  }

  // Separate connections, so that slow reads do not delay payments.
  const intakeDatabase = traceDatabase(
    openDatabase({ ...connecting, maxConnections: INTAKE_CONNECTIONS, answerTimeoutMs: intakeTimeoutMs }),
    tracing,
  );
  const access = paymentAccess(config, embedded, simulated?.url);
  const payments = connectPayments(access, {
    tracing,
    log,
    maxLimitWaitMs: options.maxLimitWaitMs ?? 0,
  });
  const intake = createIntake({
    database: intakeDatabase,
    plans: config.plans,
    adapters: ADAPTERS,
    slots,
    leaseSeconds: config.webhook.leaseSeconds,
    toleranceSeconds: config.webhook.toleranceSeconds,
    hooks: withHooksOf(hooks, options.hookTimeoutMs),
    log: intakeLog(log),
    tracing,
    ...(options.reached ? { reached: options.reached } : {}),
    ...(config.selfHeal ? { requestComparison: comparisonRequests(database, payments, log) } : {}),
  });
  return {
    database,
    connecting: { ...connecting, answerTimeoutMs: timeoutMs },
    intake,
    embedded,
    payments,
    providerAccounts: providerAccountsOf(access),
    activeProvider: config.activeProvider,
    newServiceKey,
    appUrl: config.appUrl,
    outboundAllow: outboundAllow(config.outboundAllow),
    hooks,
    log,
    tracing,
    simulatorUrl: simulated?.url ?? null,
    isReady: () => withinMs(READY_WITHIN_MS, isReady(intakeDatabase)),
    close: async () => {
      await simulated?.close();
      await intake.idle();
      await Promise.all([database.close(), intakeDatabase.close()]);
      await postgres?.stop();
    },
    stopDatabase: async () => postgres?.stop(),
  };
}

/**
 * The event that names a checkout's subscription usually follows within a second and makes the comparison
 * unnecessary.
 */
const REQUESTED_IN_SECONDS = 1;

/**
 * A lost request of an event is repeated by its next attempt, or replaced by the sweep; one of a change matters only
 * if this process also ends before the provider has responded.
 */
function comparisonRequests(
  database: Database,
  payments: Payments,
  log: Log,
): NonNullable<Intake["requestComparison"]> {
  return (slot, ids) => {
    if (payments[slot] === null) return;
    void requestHeals(database, ids, { inSeconds: REQUESTED_IN_SECONDS }).catch((error) =>
      log.warn({ err: error, slot }, "a comparison could not be requested"),
    );
  };
}

async function isReady(database: Database): Promise<boolean> {
  return (await isMigrated(database)) && (await acceptsWrites(database));
}

function withinMs(timeoutMs: number, check: Promise<boolean>): Promise<boolean> {
  return Promise.race([check.catch(() => false), sleep(timeoutMs, false, { ref: false })]);
}
