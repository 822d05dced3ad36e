import { NO_PROVIDER } from "../domain/providers/no-provider.ts";
import type { PaymentApi } from "../domain/providers/payment-api.ts";
import { isPaymentApiProblem } from "../domain/providers/payment-api-problem.ts";
import type { Slot } from "../domain/slot.ts";
import { countPayments } from "../store/payments/verify-payments.ts";
import { countVerifiable, sampleVerifiable } from "../store/reconciliation/verification.ts";
import { type Compared, notCorrected } from "./not-corrected.ts";
import type { ReconcileTools } from "./reconcile-tools.ts";
import type { Drift, Verification, VerificationOptions, VerifyReport } from "./verification.ts";
import { verifyPayments, verifyPaymentsOf } from "./verify-payments.ts";
import { verifyEach, verifySubscriptions } from "./verify-subscriptions.ts";

/**
 * Compares subscriptions and payments with their providers: through the provider's lists where all are
 * checked, one by one for a sample and for what a list lacks. Takes no locks; with `repair`, differences are
 * compared again under lock and corrected.
 * @throws DatabaseUnavailable
 */
export async function verify(tools: ReconcileTools, options: VerificationOptions): Promise<VerifyReport> {
  const unconfigured = options.slots.filter((slot) => tools.payments[slot] === null);
  const report: VerifyReport = {
    checked: 0,
    drift: [],
    repaired: 0,
    failed: [],
    isIncomplete: false,
    unconfigured,
  };
  const { database } = tools.intake;
  const counts = await Promise.all(
    options.slots.map(async (slot) => {
      const [subscriptions, payments] = await Promise.all([
        countVerifiable(database, slot),
        countPayments(database, slot),
      ]);
      if (tools.payments[slot] === null) {
        if (subscriptions + payments > 0) {
          report.failed.push({ slot, providerId: null, reason: NO_PROVIDER });
          report.isIncomplete = true;
        }
        return 0;
      }
      if (options.sample === null || options.sample >= subscriptions) return subscriptions + payments;
      return options.sample + Math.round((payments * options.sample) / subscriptions);
    }),
  );
  const total = counts.reduce((sum, count) => sum + count, 0);
  const run = new Run(tools, options, report, total);
  await Promise.all(
    options.slots.map((slot) => {
      const api = tools.payments[slot];
      return api && run.slot(slot, api);
    }),
  );
  return report;
}

class Run implements Verification {
  readonly tools: ReconcileTools;
  readonly options: VerificationOptions;
  readonly #report: VerifyReport;
  readonly #total: number;

  constructor(tools: ReconcileTools, options: VerificationOptions, report: VerifyReport, total: number) {
    this.tools = tools;
    this.options = options;
    this.#report = report;
    this.#total = total;
  }

  slot(slot: Slot, api: PaymentApi): Promise<void> {
    return this.checkOrFail(slot, null, async () => {
      if (this.options.sample === null) {
        await verifySubscriptions(this, slot, api);
        await verifyPayments(this, slot, api);
        return;
      }
      const sample = await sampleVerifiable(this.tools.intake.database, slot, this.options.sample);
      await verifyEach(this, slot, api, sample);
      await verifyPaymentsOf(this, slot, api, sample);
    });
  }

  async checkOrFail(slot: Slot, providerId: string | null, check: () => Promise<void>): Promise<void> {
    try {
      await check();
    } catch (error) {
      if (!isPaymentApiProblem(error)) throw error;
      this.fail(slot, providerId, error.message);
    }
  }

  async repairOrFail(compared: Compared, repair: () => Promise<void>): Promise<void> {
    if (!this.options.repair) return;
    try {
      await repair();
    } catch (error) {
      const isProblem = isPaymentApiProblem(error);
      const reason = isProblem ? error.message : notCorrected(this.tools.intake, compared, error);
      const id =
        "providerPaymentId" in compared ? compared.providerPaymentId : compared.providerSubscriptionId;
      this.fail(compared.provider, id, reason);
    }
  }

  fail(slot: Slot, providerId: string | null, reason: string): void {
    this.#report.failed.push({ slot, providerId, reason });
    this.#report.isIncomplete = true;
  }

  leave(slot: Slot, providerId: string, reason: string): void {
    this.#report.failed.push({ slot, providerId, reason });
  }

  drift(drift: Drift): void {
    this.#report.drift.push(drift);
  }

  repaired(): void {
    this.#report.repaired += 1;
  }

  check(): void {
    this.#report.checked += 1;
    this.options.progressed(this.#report.checked, this.#total);
  }
}
