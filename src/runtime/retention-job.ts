import { setTimeout as sleep } from "node:timers/promises";
import type { Config } from "../config/config.ts";
import type { JobName } from "../domain/job.ts";
import type { Job } from "../jobs/job-runner.ts";
import type { Database } from "../store/database.ts";
import { dropPayloads } from "../store/deliveries/delivery-retention.ts";
import { dropUsage } from "../store/entitlements/usage.ts";
import { deleteExpiredLeases } from "../store/leases.ts";
import { dropNotifications } from "../store/notifications/notification-retention.ts";
import { dropUnseenHooks } from "../store/outbound/hook-endpoints.ts";
import { dropOutbound } from "../store/outbound/outbound-retention.ts";
import { dropAbandonedImports } from "../store/reconciliation/imports.ts";
import { dropReconciliations } from "../store/reconciliation/reconciliation-retention.ts";

const EVERY_MS = 10 * 60 * 1000;
/** Small, with pauses in between, so that incoming deliveries are not delayed. */
const BATCH = 200;
const PAUSE_MS = 20;
const NOTIFICATION_DAYS = 365;
const OUTBOUND_DAYS = 30;
/** Idempotency keys are kept as long. */
const USAGE_DAYS = 30;

/** Resolves to 0 once nothing that old is left. */
type DropBatch = (database: Database, batch: { olderThanDays: number; limit: number }) => Promise<number>;

/**
 * Drops bodies of old deliveries, old notifications, comparisons, outbound events and usage, abandoned
 * imports, hooks that no process has any more, and leases of crashed processes.
 */
export function retentionJob(
  { deliveryRetentionDays, auditRetentionDays }: Config,
  { database }: { database: Database },
): Job<JobName> {
  return {
    name: "retention",
    everyMs: EVERY_MS,
    run: async ({ isStopping }) => {
      const dropAll = async (olderThanDays: number, drop: DropBatch) => {
        const batch = { olderThanDays, limit: BATCH };
        while (!isStopping() && (await drop(database, batch)) > 0) await sleep(PAUSE_MS);
      };
      await deleteExpiredLeases(database);
      await dropAbandonedImports(database);
      await dropAll(deliveryRetentionDays, async (...batch) => (await dropPayloads(...batch)).passed);
      await dropAll(NOTIFICATION_DAYS, dropNotifications);
      await dropAll(auditRetentionDays, dropReconciliations);
      await dropUnseenHooks(database);
      await dropAll(OUTBOUND_DAYS, dropOutbound);
      await dropAll(USAGE_DAYS, dropUsage);
    },
  };
}
