import type { CheckoutEnd, ClosingCheckout, Payments } from "../domain/payment-api.ts";
import type { Slot } from "../domain/slot.ts";
import type { Intake } from "../intake/intake.ts";
import { ingestMissed } from "../reconcile/ingest-missed.ts";
import type { OperatorLog } from "./ask-provider.ts";

export type ClosingTools = {
  payments: Payments;
  intake: Intake;
  log: OperatorLog;
};

/** Webhooks are late by minutes at most, or lost; what is older the sweep finds. */
const LOOK_BACK_MS = 2 * 60 * 60 * 1000;

/**
 * Closes a checkout at its provider. Of one that turns out to be paid the event is on its way or lost: the provider is
 * asked for it at once, in the background.
 * @throws PaymentApiProblem
 */
export async function closeStoredCheckout(
  tools: ClosingTools,
  { provider, ...checkout }: ClosingCheckout & { provider: Slot },
): Promise<CheckoutEnd> {
  const api = tools.payments[provider];
  // Without a key nothing can be asked, nor was it for anybody who paid.
  if (api === null) return { status: "closed" };
  const end = await api.closeCheckout(checkout);
  if (end.status === "paid" && api.listEvents) {
    const { listEvents } = api;
    void ingestMissed(tools.intake, provider, listEvents, {
      since: new Date(Date.now() - LOOK_BACK_MS),
      isTooYoung: () => false,
      dryRun: false,
      isStopping: () => false,
    }).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      tools.log.error({ slot: provider, reason }, "the events of a paid checkout could not be fetched");
    });
  }
  return end;
}
