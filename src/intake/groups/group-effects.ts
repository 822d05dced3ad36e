import { recordPayments } from "../../store/payments/record-payments.ts";
import { insertResumed, insertUnwanted } from "../../store/subscriptions/unwanted-subscriptions.ts";
import type { Transaction } from "../../store/transaction.ts";
import type { Intake } from "../intake.ts";
import type { ReadEvent } from "../read-event.ts";
import type { GroupDecision } from "./decide-group.ts";
import { logSinglePayments, logUnwanted, renewingOf, unwantedOf } from "./deleted-users.ts";
import type { LockedGroup } from "./lock-group.ts";
import { requestComparisons } from "./request-comparisons.ts";

/** What the decisions of a group change besides its deliveries, whichever way these are written. */
export function effectsOf(
  intake: Intake,
  group: readonly ReadEvent[],
  { decisions, changes, payments }: GroupDecision,
  { subscriptions, users }: LockedGroup,
) {
  const renewing = renewingOf(group, decisions, subscriptions);
  const unwanted = [
    ...unwantedOf(group, decisions, { users, plans: intake.plans }),
    ...renewing.filter(({ isFirstPayment }) => isFirstPayment),
  ];
  const linked = changes.linkedToPayments();
  const resumed = renewing.filter(({ isFirstPayment }) => !isFirstPayment);
  return {
    /** Sends the writes without waiting for them. */
    write: (transaction: Transaction): Promise<unknown>[] => [
      ...(unwanted.length > 0 ? [insertUnwanted(transaction, unwanted)] : []),
      ...(resumed.length > 0 ? [insertResumed(transaction, resumed)] : []),
      ...changes.write(transaction),
      ...(payments.length > 0 || linked.length > 0
        ? [recordPayments(transaction, payments, { linked })]
        : []),
    ],
    /** To be called once they are committed. */
    committed: (): void => {
      logUnwanted(intake, unwanted);
      logSinglePayments(intake, group, decisions);
      requestComparisons(intake, group, decisions);
    },
  };
}
