import { DatabaseUnavailable, isTimeout } from "../../store/database.ts";
import {
  claimDeliveries,
  confirmRepeats,
  findLocked,
  type NewDelivery,
} from "../../store/deliveries/deliveries.ts";
import { retryOnContention } from "../../store/retry-on-contention.ts";
import {
  inOwnTransaction,
  inTransaction,
  isLockTimeout,
  type TransactionOptions,
} from "../../store/transaction.ts";
import type { Claimed } from "../claimed-event.ts";
import { withFollowers } from "../groups/with-followers.ts";
import type { IncomingEvent } from "../incoming-event.ts";
import type { Intake } from "../intake.ts";
import { keysOf } from "../queue/keys.ts";
import { claimGroupLimits, claimLimits, effectLimits } from "../transaction-limits.ts";

/** After this many locked events in a group the others leave without being tried: all claims wait for it. */
const MAX_LOCK_TIMEOUTS = 3;

/**
 * Claims deliveries before anything else happens to them. The commit does not wait for the disk: the effects'
 * commit makes it durable, and a repeat is acknowledged only after its own flush. Those whose delivery is
 * locked leave the group, with the later events of their subscriptions.
 */
export async function claimGroup(
  intake: Intake,
  group: readonly IncomingEvent[],
): Promise<(Claimed | Promise<Claimed>)[]> {
  if (group.length === 0) return [];
  try {
    return await retryOnContention(() => claimTogether(intake, group, claimGroupLimits(intake)));
  } catch (error) {
    if (isLockTimeout(error)) return claimBesideLocks(intake, group);
    if (error instanceof DatabaseUnavailable || isTimeout(error)) return unavailable(intake, group, error);
    if (group.length === 1) {
      intake.log.error({ err: error }, "a delivery could not be claimed");
      return ["unavailable"];
    }
  }
  // One invalid event fails the statement for all: claimed singly, only that one is left out.
  return claimSingly(intake, group);
}

/** Claims a group of one event, which waits for its lock. */
export async function claimSingle(intake: Intake, group: readonly IncomingEvent[]): Promise<Claimed[]> {
  try {
    return await retryOnContention(() => claimTogether(intake, group, claimLimits(intake)));
  } catch (error) {
    if (isLockTimeout(error)) intake.log.warn({ err: error }, "a delivery stayed locked: it was not claimed");
    else if (error instanceof DatabaseUnavailable || isTimeout(error))
      return unavailable(intake, group, error);
    else intake.log.error({ err: error }, "a delivery could not be claimed");
    return ["unavailable"];
  }
}

async function claimBesideLocks(
  intake: Intake,
  group: readonly IncomingEvent[],
): Promise<(Claimed | Promise<Claimed>)[]> {
  if (group.length === 1) return group.map((event) => intake.singleClaims.submit(event));
  const deliveries = group.map(({ delivery }) => delivery);
  let locked: ReadonlySet<string>;
  try {
    locked = await inTransaction(intake.database, claimGroupLimits(intake), (transaction) =>
      findLocked(transaction, deliveries),
    );
  } catch (error) {
    return unavailable(intake, group, error);
  }
  const leaving = withFollowers(group, ({ key }) => locked.has(key));
  // Another transaction is inserting one of them.
  if (leaving.size === 0) return claimSingly(intake, group);
  const rest = group.filter((event) => !leaving.has(event));
  const claiming = await claimGroup(intake, rest);
  const claimed = new Map(rest.map((event, index) => [event, claiming[index]]));
  return group.map((event) => claimed.get(event) ?? intake.singleClaims.submit(event));
}

async function claimSingly(
  intake: Intake,
  group: readonly IncomingEvent[],
): Promise<(Claimed | Promise<Claimed>)[]> {
  const claimed: (Claimed | Promise<Claimed>)[] = [];
  const leavingKeys = new Set<string>();
  let lockTimeouts = 0;
  for (const event of group) {
    const keys = keysOf(event);
    const isBehind = keys.some((key) => leavingKeys.has(key));
    const [claiming] =
      isBehind || lockTimeouts >= MAX_LOCK_TIMEOUTS
        ? [intake.singleClaims.submit(event)]
        : await claimGroup(intake, [event]);
    if (claiming instanceof Promise) {
      if (!isBehind) lockTimeouts += 1;
      for (const key of keys) leavingKeys.add(key);
    }
    claimed.push(claiming as Claimed | Promise<Claimed>);
  }
  return claimed;
}

function unavailable(intake: Intake, group: readonly IncomingEvent[], error: unknown): Claimed[] {
  intake.log.warn({ err: error, events: group.length }, "database unavailable: nothing was claimed");
  return group.map(() => "unavailable");
}

async function claimTogether(
  intake: Intake,
  events: readonly IncomingEvent[],
  limits: TransactionOptions,
): Promise<Claimed[]> {
  const group = events.map(({ delivery }) => delivery);
  const results = await inOwnTransaction(intake.database, limits, (transaction) =>
    claimDeliveries(transaction, group, intake.leaseSeconds),
  );
  if (results.some((result) => result.claim)) await intake.reached("claimed");

  // Visible as successful means durable here: such commits become visible once they are on disk, though not
  // on every standby.
  const unconfirmed = group.filter((_, index) => {
    const result = results[index];
    return !result?.claim && (result?.status !== "successful" || result.isReplicated);
  });
  const confirmed = await confirmDurable(intake, unconfirmed, limits);
  return group.map((delivery, index) => {
    const claim = results[index]?.claim;
    return claim ? { claim } : (confirmed.get(delivery) ?? "duplicate");
  });
}

/** Decides the result of events that others have claimed. An error here concerns the repeats alone. */
async function confirmDurable(
  intake: Intake,
  repeats: readonly NewDelivery[],
  { lockTimeoutMs }: TransactionOptions,
): Promise<Map<NewDelivery, "duplicate" | "again" | "unavailable">> {
  if (repeats.length === 0) return new Map();
  try {
    const limits = { ...effectLimits(intake), lockTimeoutMs };
    const statuses = await inOwnTransaction(intake.database, limits, (transaction) =>
      confirmRepeats(transaction, repeats),
    );
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
