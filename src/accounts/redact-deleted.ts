import { shorten } from "../domain/events/decide-context.ts";
import type { PaymentEvent } from "../domain/events/payment-event.ts";
import { customersIn, type IdAtProvider, isAbout, type ParsedDelivery } from "../domain/events/person-ids.ts";
import {
  isSubscriptionEvent,
  reportsEnd,
  type SubscriptionEvent,
} from "../domain/events/subscription-event.ts";
import type { Intake } from "../intake/intake.ts";
import {
  hastenRetries,
  nextSuspects,
  openRedactions,
  type Redaction,
  type RedactionStep,
  redact,
  type SuspectDelivery,
  unclaimedCustomers,
} from "../store/accounts/redaction.ts";
import type { Queryable } from "../store/database.ts";
import { retryOnContention } from "../store/retry-on-contention.ts";

type RedactionTools = { database: Queryable; intake: Pick<Intake, "adapters" | "log"> };

/**
 * Removes the data of users who have deleted their accounts from the log of deliveries, in small steps that
 * block nobody. The next call continues where one was stopped or failed.
 * @returns whether nothing is left to redact
 */
export async function redactDeleted(tools: RedactionTools, isStopping: () => boolean): Promise<boolean> {
  let remaining = await openRedactions(tools.database);
  while (remaining.length > 0) {
    if (isStopping()) return false;
    // Users whose redactions have reached the same position share one read of the log.
    const after = remaining
      .map((redaction) => redaction.after)
      .reduce((a, b) => (BigInt(b) < BigInt(a) ? b : a));
    const batch = remaining.filter((redaction) => redaction.after === after);
    const found = await nextSuspects(tools.database, batch, after);
    if (found.until === "pending") return false;
    const deliveries = found.suspects.map((suspect) => ({ ...suspect, ...parsed(tools.intake, suspect) }));
    const untried = deliveries.filter((delivery) => needsLastAttempt(delivery, batch));
    if (untried.length > 0) await retryOnContention(() => hastenRetries(tools.database, idsOf(untried)));
    // Deliveries behind the first of these wait too.
    const until = untried[0] === undefined ? found.until : `${BigInt(untried[0].id) - 1n}`;
    if (until === after) return false;
    const unfinished: Redaction[] = [];
    for (const before of batch) {
      const step = await nextStep(tools, before, deliveries, until);
      // Another process is redacting too, and has gone further, or is applying one of them.
      if (!(await retryOnContention(() => redact(tools.database, step)))) return false;
      logUnresolved(tools.intake, before, redactedBy(step, deliveries));
      if (step.next !== null) unfinished.push(step.next);
    }
    remaining = [...remaining.filter((redaction) => redaction.after !== after), ...unfinished];
  }
  return true;
}

type Suspect = SuspectDelivery & ParsedDelivery;

/**
 * Whether it failed before its user was deleted, and may report a purchase that was not canceled with the account. As a
 * 200 may have been sent for it, it gets one more attempt, and is then redacted, whatever comes of that.
 */
function needsLastAttempt(delivery: Suspect, people: readonly Redaction[]): boolean {
  return people.some(
    (person) =>
      delivery.failedBefore.includes(person.userId) &&
      purchaseIn(delivery, person) !== null &&
      isAbout(person, delivery),
  );
}

/** What a failed delivery may report a purchase of that was not canceled with the account. */
function purchaseIn({ provider, event, isFailed }: Suspect, person: Redaction): SubscriptionEvent | null {
  if (!isFailed || event === null || !isSubscriptionEvent(event) || reportsEnd(event)) return null;
  const isOwn = person.subscriptions.some(
    (own) => own.provider === provider && own.id === event.providerSubscriptionId,
  );
  return isOwn ? null : event;
}

function redactedBy({ deliveryIds }: RedactionStep, deliveries: readonly Suspect[]): Suspect[] {
  return deliveries.filter(({ id }) => deliveryIds.includes(id));
}

/** Its last attempt has failed too, as when it names only the deleted user's customer: then an operator has to look. */
function logUnresolved(intake: Pick<Intake, "log">, person: Redaction, redacted: readonly Suspect[]): void {
  for (const delivery of redacted) {
    const event = purchaseIn(delivery, person);
    if (event === null) continue;
    const { provider: slot, id: deliveryId } = delivery;
    const message =
      "an event of a deleted account could not be applied: if what it reports is running, cancel it at the provider";
    intake.log.error({ slot, providerSubscriptionId: event.providerSubscriptionId, deliveryId }, message);
  }
}

function idsOf(deliveries: readonly { id: string }[]): string[] {
  return deliveries.map(({ id }) => id);
}

async function nextStep(
  { database }: RedactionTools,
  before: Redaction,
  deliveries: readonly (ParsedDelivery & { id: string })[],
  until: string | null,
): Promise<RedactionStep> {
  const aboutUser = deliveries.filter((delivery) => isAbout(before, delivery));
  const candidates = aboutUser.flatMap((delivery) => customersIn(before, delivery));
  const newCustomers = await unclaimedCustomers(database, newAmong(candidates, before.customers));
  const grown: Redaction = {
    ...before,
    customers: [...before.customers, ...newCustomers],
    again: before.again || newCustomers.length > 0,
  };
  return {
    before,
    next: until === null ? roundAfter(grown) : { ...grown, after: until },
    deliveryIds: idsOf(aboutUser),
    until: until ?? before.after,
    quotedId: `"${shorten(before.userId)}"`,
  };
}

function roundAfter(redaction: Redaction): Redaction | null {
  return redaction.again ? { ...redaction, after: "0", again: false } : null;
}

function parsed({ adapters }: RedactionTools["intake"], suspect: SuspectDelivery): ParsedDelivery {
  const body: unknown = JSON.parse(suspect.payload);
  return { provider: suspect.provider, body, event: eventOf(adapters, suspect, body) };
}

/** `null` also for what could not be read when it came: then it is searched for any id. */
function eventOf(adapters: Intake["adapters"], suspect: SuspectDelivery, body: unknown): PaymentEvent | null {
  try {
    return adapters.find(suspect.format)?.interpret(suspect.eventType, body) ?? null;
  } catch {
    return null;
  }
}

function newAmong(candidates: readonly IdAtProvider[], customers: readonly IdAtProvider[]): IdAtProvider[] {
  const keyOf = ({ provider, id }: IdAtProvider) => `${provider} ${id}`;
  const added = new Map(candidates.map((candidate) => [keyOf(candidate), candidate]));
  for (const customer of customers) added.delete(keyOf(customer));
  return [...added.values()];
}
