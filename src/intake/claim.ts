import { DatabaseUnavailable } from "../store/database.ts";
import { claimDeliveries, confirmRepeats, type NewDelivery } from "../store/deliveries.ts";
import { inTransaction } from "../store/transaction.ts";
import type { Claimed } from "./claimed-event.ts";
import type { Intake } from "./intake.ts";
import { retryOnContention } from "./retry-on-contention.ts";
import { claimLimits, effectLimits } from "./transaction-limits.ts";

/**
 * Claims deliveries before anything else happens to them. The commit does not wait for the disk: the effects'
 * commit makes it durable, and a repeat is acknowledged only after its own flush.
 */
export async function claimGroup(intake: Intake, group: readonly NewDelivery[]): Promise<Claimed[]> {
  try {
    return await retryOnContention(() => claimTogether(intake, group));
  } catch (error) {
    if (error instanceof DatabaseUnavailable) {
      intake.log.warn({ err: error, events: group.length }, "database unavailable: nothing was claimed");
      return group.map(() => "unavailable");
    }
    if (group.length === 1) {
      intake.log.error({ err: error }, "a delivery could not be claimed");
      return ["unavailable"];
    }
  }
  // One invalid event fails the statement for all: claimed singly, only that one is left out.
  const claimed: Claimed[] = [];
  for (const delivery of group) claimed.push(...(await claimGroup(intake, [delivery])));
  return claimed;
}

async function claimTogether(intake: Intake, group: readonly NewDelivery[]): Promise<Claimed[]> {
  const results = await inTransaction(intake.database, claimLimits(intake), async (transaction) => {
    const claiming = claimDeliveries(transaction, group, intake.leaseSeconds);
    await transaction.commitAfter([claiming]);
    return claiming;
  });
  if (results.some((result) => result.claim)) await intake.reached("claimed");

  // Visible as successful means durable here: such commits become visible once they are on disk, though not
  // on every standby.
  const unconfirmed = group.filter((_, index) => {
    const result = results[index];
    return !result?.claim && (result?.status !== "successful" || result.isReplicated);
  });
  const confirmed = await confirmDurable(intake, unconfirmed);
  return group.map((delivery, index) => {
    const claim = results[index]?.claim;
    return claim ? { claim } : (confirmed.get(delivery) ?? "duplicate");
  });
}

/** Decides the result of events that others have claimed. An error here concerns the repeats alone. */
async function confirmDurable(
  intake: Intake,
  repeats: readonly NewDelivery[],
): Promise<Map<NewDelivery, "duplicate" | "again" | "unavailable">> {
  if (repeats.length === 0) return new Map();
  try {
    const statuses = await inTransaction(intake.database, effectLimits(intake), async (transaction) => {
      const confirming = confirmRepeats(transaction, repeats);
      await transaction.commitAfter([confirming]);
      return confirming;
    });
    return new Map(
      repeats.map((delivery, index) => {
        const status = statuses[index];
        // Failed meanwhile, or gone: a claim that was not on disk is lost when PostgreSQL crashes.
        return [delivery, status === "pending" || status === "successful" ? "duplicate" : "again"];
      }),
    );
  } catch (error) {
    intake.log.warn({ err: error, events: repeats.length }, "repeats could not be confirmed");
    return new Map(repeats.map((delivery) => [delivery, "unavailable"]));
  }
}
