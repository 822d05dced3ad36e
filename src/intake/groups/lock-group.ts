import type { Slot } from "../../domain/slot.ts";
import type { Subscription } from "../../domain/subscriptions/subscription.ts";
import type { Queryable } from "../../store/database.ts";
import {
  findNotLocked,
  type LinkedSubscription,
  lockFreeSubscriptions,
  lockSubscriptions,
  type SubscriptionLink,
  subscriberOf,
  tryLockSubscribers,
  waitForSubscriptions,
} from "../../store/subscriptions/subscription-locks.ts";
import {
  findConfirmedEmails,
  lockPresentUsers,
  type UserState,
  waitForUserStates,
} from "../../store/users/user-states.ts";
import { linkOf, namedUserOf } from "../event-link.ts";
import type { ReadEvent } from "../read-event.ts";
import { paymentsOfDeleted } from "./payments-of-deleted.ts";

export type LockedGroup = {
  subscriptions: Subscription[];
  users: Map<string, UserState>;
  /** Confirmed addresses by user, read only where an event names its customer's address. */
  confirmedEmails: ReadonlyMap<string, string>;
  /** Whether this event, which names a payment alone, is about one of a deleted account. */
  isPaymentOfDeleted(event: ReadEvent): boolean;
  /** Whether another transaction holds what this event may touch. */
  isContended(event: ReadEvent): boolean;
};

/**
 * Locks the subscriptions that these events may touch, skipping those that are locked elsewhere: never waits.
 * @param sendAlong sends the other statements of the first round trip, and returns which events are still to
 * be applied
 */
export async function lockGroup(
  transaction: Queryable,
  events: readonly ReadEvent[],
  sendAlong: () => Promise<(event: ReadEvent) => boolean>,
): Promise<LockedGroup> {
  const linked: { event: ReadEvent; link: SubscriptionLink }[] = [];
  for (const event of events) {
    const link = linkOf(event);
    if (link !== null) linked.push({ event, link });
  }
  const [subscriptions, isOpen] = await Promise.all([
    lockFree(
      transaction,
      linked.map(({ link }) => bySubscriptionId(link)),
    ),
    sendAlong(),
  ]);

  // The subscribers of the locked subscriptions are known now, and nobody else can add one of theirs
  // meanwhile.
  const owners = ownersOf(subscriptions);
  const open = linked.flatMap(({ event, link }) => (isOpen(event) ? link : []));
  const rest = open.filter((link) => !owners.isNamedLocked(link));
  const unheld = rest.filter((link) => mayAdd(link) && !owners.isHeld(link));
  const unproven = events.filter(isOpen).flatMap((event) => {
    const userId = owners.userOf(event);
    return userId === null || owners.users.has(userId) ? [] : [userId];
  });
  const users = owners.users;
  let elsewhere: LockedElsewhere = { subscriptions: [], subscribers: new Set(), users: new Set() };
  if (rest.length > 0 || unproven.length > 0) {
    // Read after locking, to see what was added before.
    const [subscribersElsewhere, added, subscriptionsElsewhere, lockedUsers] = await Promise.all([
      unheld.length === 0 ? elsewhere.subscribers : tryLockSubscribers(transaction, unheld),
      lockFree(transaction, rest),
      notLocked(transaction, rest),
      unproven.length === 0 ? null : lockPresentUsers(transaction, unproven),
    ]);
    const ids = new Set(subscriptions.map(({ id }) => id));
    subscriptions.push(...added.filter(({ id }) => !ids.has(id)));
    for (const [id, state] of lockedUsers?.states ?? []) users.set(id, state);
    elsewhere = {
      subscriptions: subscriptionsElsewhere,
      subscribers: subscribersElsewhere,
      users: lockedUsers?.lockedElsewhere ?? elsewhere.users,
    };
  }
  const [confirmedEmails, isPaymentOfDeleted] = await Promise.all([
    confirmedEmailsFor(transaction, events, subscriptions),
    paymentsOfDeleted(transaction, events),
  ]);
  return {
    subscriptions,
    users,
    confirmedEmails,
    isPaymentOfDeleted,
    isContended: contention(subscriptions, elsewhere),
  };
}

/** What other transactions have locked. */
type LockedElsewhere = {
  /** The last committed states; some may have been locked here. */
  subscriptions: readonly LinkedSubscription[];
  /** By `subscriberOf`. */
  subscribers: ReadonlySet<string>;
  users: ReadonlySet<string>;
};

function contention(
  subscriptions: readonly Subscription[],
  elsewhere: LockedElsewhere,
): LockedGroup["isContended"] {
  const { subscribers, users } = elsewhere;
  if (elsewhere.subscriptions.length + subscribers.size + users.size === 0) return () => false;
  const ids = new Set(subscriptions.map(({ id }) => id));
  const foreign = elsewhere.subscriptions.filter(({ id }) => !ids.has(id));
  const { isNamedLocked, userOf } = ownersOf(subscriptions);
  return (event) => {
    const userId = userOf(event);
    if (userId !== null && users.has(userId)) return true;
    const link = linkOf(event);
    if (link === null || isNamedLocked(link)) return false;
    return (
      subscribers.has(subscriberOf(link)) || foreign.some((subscription) => isLinked(link, subscription))
    );
  };
}

async function lockFree(transaction: Queryable, links: readonly SubscriptionLink[]): Promise<Subscription[]> {
  return links.length === 0 ? [] : lockFreeSubscriptions(transaction, links);
}

async function notLocked(
  transaction: Queryable,
  links: readonly SubscriptionLink[],
): Promise<LinkedSubscription[]> {
  return links.length === 0 ? [] : findNotLocked(transaction, links);
}

/** The same for a single event, waiting for other holders of its subscriptions. */
export async function waitForLocks(transaction: Queryable, event: ReadEvent): Promise<LockedGroup> {
  const link = linkOf(event);
  const isPaymentOfDeleted = await paymentsOfDeleted(transaction, [event]);
  const rest = { isPaymentOfDeleted, isContended: () => false };
  const userId = namedUserOf(event, link);
  if (link === null) {
    const users = userId === null ? new Map() : await waitForUserStates(transaction, [userId]);
    return { subscriptions: [], users, confirmedEmails: new Map(), ...rest };
  }
  const named =
    link.providerSubscriptionId === null
      ? []
      : await lockSubscriptions(transaction, [bySubscriptionId(link)]);
  const [subscriptions, users] = await Promise.all([
    named.length > 0 ? named : waitForSubscriptions(transaction, link),
    // Sent behind the locks: an account may be deleted meanwhile.
    waitForUserStates(transaction, userId === null ? [] : [userId]),
  ]);
  const confirmedEmails = await confirmedEmailsFor(transaction, [event], subscriptions);
  return { subscriptions, users, confirmedEmails, ...rest };
}

async function confirmedEmailsFor(
  transaction: Queryable,
  events: readonly ReadEvent[],
  subscriptions: readonly Subscription[],
): Promise<ReadonlyMap<string, string>> {
  const naming = events.flatMap(({ reading }) =>
    "event" in reading && reading.event.customerEmail !== undefined ? reading.event : [],
  );
  if (naming.length === 0) return new Map();
  const ids = [...naming, ...subscriptions].flatMap(({ userId }) => userId ?? []);
  return findConfirmedEmails(transaction, [...new Set(ids)]);
}

/** An event without user and customer can only concern an existing subscription. */
function mayAdd({ userId, customerId }: SubscriptionLink): boolean {
  return userId !== null || customerId !== null;
}

/** Where a subscription is named and exists, no other is concerned: it is looked for first. */
function bySubscriptionId(link: SubscriptionLink): SubscriptionLink {
  return link.providerSubscriptionId === null ? link : { ...link, userId: null, customerId: null };
}

/** Whose the locked subscriptions are. Keyed by plain ids: a map would have to hash each joined one anew. */
function ownersOf(subscriptions: readonly Subscription[]) {
  const users = new Map<string, UserState>();
  const held = new Map<Slot, { named: Set<string>; users: Set<string>; customers: Set<string> }>();
  for (const { provider, providerSubscriptionId, userId, customerId } of subscriptions) {
    let inSlot = held.get(provider);
    if (inSlot === undefined) {
      inSlot = { named: new Set(), users: new Set(), customers: new Set() };
      held.set(provider, inSlot);
    }
    if (providerSubscriptionId !== null) inSlot.named.add(providerSubscriptionId);
    if (userId !== null) {
      users.set(userId, "present");
      inSlot.users.add(userId);
    }
    if (customerId !== null) inSlot.customers.add(customerId);
  }
  const isNamedLocked = ({ provider, providerSubscriptionId }: SubscriptionLink): boolean =>
    providerSubscriptionId !== null && held.get(provider)?.named.has(providerSubscriptionId) === true;
  return {
    users,
    /** Whether the subscription that the link names is among them. */
    isNamedLocked,
    /** The user whose account decides what is kept of the event; `null`: that of its subscription, or nobody. */
    userOf: (event: ReadEvent): string | null => {
      const link = linkOf(event);
      return link !== null && isNamedLocked(link) ? link.userId : namedUserOf(event, link);
    },
    isHeld: ({ provider, userId, customerId }: SubscriptionLink): boolean => {
      const inSlot = held.get(provider);
      if (inSlot === undefined) return false;
      return userId !== null
        ? inSlot.users.has(userId)
        : customerId !== null && inSlot.customers.has(customerId);
    },
  };
}

function isLinked(link: SubscriptionLink, subscription: LinkedSubscription): boolean {
  if (link.provider !== subscription.provider) return false;
  if (link.userId !== null && link.userId === subscription.userId) return true;
  if (link.userId === null && link.customerId !== null && link.customerId === subscription.customerId)
    return true;
  return (
    link.providerSubscriptionId !== null &&
    link.providerSubscriptionId === subscription.providerSubscriptionId
  );
}
