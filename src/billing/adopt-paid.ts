import type { Slot } from "../domain/slot.ts";
import { isSameAddress } from "../domain/users/email-address.ts";
import { adopt } from "../reconcile/adopt.ts";
import type { ReconcileTools } from "../reconcile/reconcile-tools.ts";
import { findConfirmedEmails } from "../store/users/user-states.ts";

export type PaidCheckout = { provider: Slot; userId: string; providerSubscriptionId: string };

/**
 * Records the subscription of a paid checkout whose events are delayed or lost, for a provider that lists no
 * events. It was found by the address that the payer typed in: it is the user's only if they have confirmed
 * that address, else that of the user whose customer it belongs to.
 * @throws PaymentApiProblem, DatabaseUnavailable
 */
export async function adoptPaid(
  { intake, payments }: ReconcileTools,
  { provider, userId, providerSubscriptionId }: PaidCheckout,
): Promise<void> {
  const api = payments[provider];
  if (api === null || api.listEvents !== null) return;
  const askedAtMicros = Date.now() * 1000;
  const state = await api.fetchSubscription(providerSubscriptionId);
  if (state === null) return;
  const { customerEmail } = state;
  const confirmed = (await findConfirmedEmails(intake.database, [userId])).get(userId);
  const isOwn = customerEmail !== undefined && isSameAddress(customerEmail, confirmed);
  const options = { askedAtMicros, by: "server", notify: true } as const;
  await adopt(intake, provider, isOwn ? { ...state, userId } : state, options);
}
