import { errorText } from "../domain/error-text.ts";
import type { CheckoutEnd, ClosingCheckout, Payments } from "../domain/providers/payment-api.ts";
import type { Slot } from "../domain/slot.ts";
import type { Intake } from "../intake/intake.ts";
import { ingestMissed } from "../reconcile/ingest-missed.ts";
import type { OperatorLog } from "./map-provider-errors.ts";

export type ClosingTools = {
  payments: Payments;
  intake: Intake;
  log: OperatorLog;
};

/** Webhooks arrive within minutes or are lost; the sweep finds older events. */
const LOOK_BACK_MS = 2 * 60 * 60 * 1000;

/**
 * Closes a checkout at its provider. If it has been paid, its event is delayed or lost, and is fetched from
 * the provider at once, in the background.
 * @throws PaymentApiProblem
 */
export async function closeStoredCheckout(
  tools: ClosingTools,
  { provider, ...checkout }: ClosingCheckout & { provider: Slot },
): Promise<CheckoutEnd> {
  const api = tools.payments[provider];
  // Without an API key the checkout cannot be closed but can still be paid.
  if (api === null) return { status: "open" };
  const end = await api.closeCheckout(checkout);
  if (end.status === "paid" && api.listEvents) {
    const { listEvents } = api;
    void ingestMissed(tools.intake, provider, listEvents, {
      since: new Date(Date.now() - LOOK_BACK_MS),
      dryRun: false,
      isStopping: () => false,
    }).catch((error: unknown) => {
      tools.log.error(
        { slot: provider, reason: errorText(error) },
        "the events of a paid checkout could not be fetched",
      );
    });
  }
  return end;
}
