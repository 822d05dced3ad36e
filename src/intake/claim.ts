import { DatabaseUnavailable } from "../store/database.ts";
import { claimDeliveries, confirmRepeats, type NewDelivery } from "../store/deliveries.ts";
import { inTransaction, isContention } from "../store/transaction.ts";
import type { Intake } from "./intake.ts";
import { claimLimits, effectLimits } from "./limits.ts";
import type { Claimed } from "./work.ts";

/**
 * Claims deliveries before anything else happens to them. The commit does not wait for the disk: the effects'
 * commit makes it durable, and a repeat is acknowledged only after a flush of its own.
 */
export async function claimGroup(intake: Intake, group: readonly NewDelivery[]): Promise<Claimed[]> {
  try {
    return await claimTogether(intake, group);
  } catch (error) {
    if (error instanceof DatabaseUnavailable) {
      intake.log.warn({ err: error, events: group.length }, "database unavailable: nothing was claimed");
      return group.map(() => "unavailable");
    }
    if (group.length === 1 && !isContention(error)) {
      intake.log.error({ err: error, eventId: group[0]?.eventId }, "a delivery could not be claimed");
      return ["unavailable"];
    }
  }
  // One of them spoils the statement for all: singly, only that one is left out.
  const claimed: Claimed[] = [];
  for (const delivery of group) claimed.push(...(await claimGroup(intake, [delivery])));
  return claimed;
}

async function claimTogether(intake: Intake, group: readonly NewDelivery[]): Promise<Claimed[]> {
  const answers = await inTransaction(intake.database, claimLimits(intake), async (transaction) => {
    const claiming = claimDeliveries(transaction, group, intake.leaseSeconds);
    await transaction.commitAfter([claiming]);
    return claiming;
  });
  if (answers.some((answer) => answer.claim)) await intake.reached("claimed");

  // Seen as successful means durable: such commits become visible only once they are on disk.
  const open = group.filter((_, index) => !answers[index]?.claim && answers[index]?.status !== "successful");
  const confirmed = open.length === 0 ? [] : await confirm(intake, open);
  return group.map((delivery, index) => {
    const answer = answers[index];
    if (answer?.claim) return { claim: answer.claim };
    const at = open.indexOf(delivery);
    return at >= 0 && confirmed[at] === "failed" ? "again" : "duplicate";
  });
}

async function confirm(intake: Intake, repeats: readonly NewDelivery[]) {
  return inTransaction(intake.database, effectLimits(intake), async (transaction) => {
    const statuses = confirmRepeats(transaction, repeats);
    await transaction.commitAfter([statuses]);
    return statuses;
  });
}
