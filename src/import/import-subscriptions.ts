import { OPERATOR } from "../domain/callers/caller.ts";
import { pendingChanges } from "../domain/outbound/subscription-change.ts";
import type { PaymentApi } from "../domain/providers/payment-api.ts";
import type { Slot } from "../domain/slot.ts";
import { commitWithHooks } from "../intake/call-hooks.ts";
import type { Intake } from "../intake/intake.ts";
import { effectLimits } from "../intake/transaction-limits.ts";
import { compareById } from "../reconcile/compare.ts";
import { advanceImport } from "../store/reconciliation/imports.ts";
import { retryOnContention } from "../store/retry-on-contention.ts";
import { waitForAllSubscriptions } from "../store/subscriptions/subscription-locks.ts";
import { inTransaction } from "../store/transaction.ts";
import { auditImport } from "./audit-import.ts";
import { type DecidedPage, decidePage } from "./decide-page.ts";
import type { Mapping } from "./mapping.ts";
import { resolveUsers } from "./resolve-users.ts";
import {
  type ImportOptions,
  type ImportReport,
  type Run,
  runImport,
  type Source,
  type SourcePage,
} from "./run-import.ts";
import type { SubscriptionRow } from "./subscription-row.ts";
import { writePage } from "./write-page.ts";

export type SubscriptionImport = {
  slot: Slot;
  mapping: Mapping;
  /** To settle what events change meanwhile; `null`: not configured. */
  api: Pick<PaymentApi, "fetchSubscription"> | null;
};

/**
 * Imports a slot's subscriptions, ended ones too, by the rules of comparisons: a known subscription keeps its
 * user and the changes of newer events. Rows that are invalid or have no user are left out.
 * @throws PaymentApiProblem, DatabaseUnavailable
 */
export function importSubscriptions(
  intake: Intake,
  { slot, mapping, api }: SubscriptionImport,
  source: Source<SubscriptionRow>,
  options: ImportOptions,
): Promise<ImportReport> {
  return runImport(intake.database, source, options, async (page, run) => {
    const settled = new Set<string>();
    for (;;) {
      const { report, contested } = await retryOnContention(() =>
        importPage(intake, { slot, mapping }, { ...page, run, settled }, options),
      );
      const unsettled = contested.filter((id) => !settled.has(id));
      if (options.dryRun || unsettled.length === 0) return report;
      for (const id of unsettled) {
        if (api !== null) await compareWithProvider(intake, api, id, options);
        settled.add(id);
      }
    }
  });
}

/** Writes nothing as long as one is contested and not settled: the next run would begin behind this page. */
async function importPage(
  intake: Intake,
  { slot, mapping }: Pick<SubscriptionImport, "slot" | "mapping">,
  {
    rows,
    next,
    run,
    settled,
  }: SourcePage<SubscriptionRow> & { run: Run | null; settled: ReadonlySet<string> },
  { notify }: ImportOptions,
): Promise<DecidedPage> {
  const limits = effectLimits(intake);
  return inTransaction(intake.database, limits, async (transaction) => {
    const users = await resolveUsers(transaction, rows, mapping);
    const links = rows.flatMap((row) => {
      if (row.state === null) return [];
      const { providerSubscriptionId, customerId } = row.state;
      return [{ provider: slot, providerSubscriptionId, userId: users.userOf(row), customerId }];
    });
    const locked = links.length === 0 ? [] : await waitForAllSubscriptions(transaction, links);
    const decided = decidePage(slot, rows, { locked, users, plans: intake.plans });
    if (run === null || decided.contested.some((id) => !settled.has(id))) return decided;
    await run.fence(transaction);
    const { importId } = run;
    const writes = [
      ...writePage(transaction, decided, { notify }),
      advanceImport(transaction, importId, { ...decided.report, position: next }),
      ...auditImport(transaction, "subscriptions.imported", {
        importId,
        report: decided.report,
        slot,
        notify,
      }),
    ];
    const pending = pendingChanges(decided.subscriptionChanges);
    await commitWithHooks(transaction, intake.hooks, pending, { writes, limits, isUnhurried: true });
    return decided;
  });
}

/** An event came in while the source was read: only the provider knows which of the two is newer. */
async function compareWithProvider(
  intake: Intake,
  api: Pick<PaymentApi, "fetchSubscription">,
  id: string,
  { notify }: ImportOptions,
): Promise<void> {
  await compareById(intake, api, id, { by: OPERATOR, audit: "changes", dryRun: false, notify });
}
