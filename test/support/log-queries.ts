import type { DeliveryStatus } from "../../src/domain/deliveries/delivery.ts";
import { nextSuspects } from "../../src/store/accounts/redaction.ts";
import type { Queryable } from "../../src/store/database.ts";
import { findLocked } from "../../src/store/deliveries/deliveries.ts";
import { attemptsOf, findLoggedDelivery } from "../../src/store/deliveries/delivery-detail.ts";
import { listLoggedDeliveries } from "../../src/store/deliveries/delivery-log.ts";
import { dropPayloads } from "../../src/store/deliveries/delivery-retention.ts";
import { countDeliveries } from "../../src/store/deliveries/delivery-statistics.ts";
import { findKnownDeliveries } from "../../src/store/deliveries/first-deliveries.ts";
import {
  findDeliveryStatus,
  giveUpStuck,
  reclaimDue,
  reclaimOne,
  reclaimSuccessful,
} from "../../src/store/deliveries/reclaims.ts";
import { historyOf, lastEventId } from "../../src/store/subscriptions/subscription-history.ts";

/** Ids of rows that exist in the log. */
export type LogExample = { id: string; eventId: string; subscriptionId: string; failedId: string };

const ANY = { provider: null, status: null, type: null, eventId: null, subscriptionId: null };
const FIRST_PAGE = { before: null, limit: 20 };

/** Every query of the log, of the statistics, of the retry job and of retention, by what it is for. */
export function logQueries(example: LogExample): Record<string, (database: Queryable) => Promise<unknown>> {
  const list =
    (filter: Partial<Parameters<typeof listLoggedDeliveries>[1]>, before: string | null = null) =>
    (database: Queryable) =>
      listLoggedDeliveries(database, { ...ANY, ...filter }, { ...FIRST_PAGE, before });
  const byStatus = (status: DeliveryStatus) => list({ status });
  const lease = { leaseSeconds: 30, limit: 100 };
  return {
    "first page": list({}),
    "page before an id": list({}, example.id),
    "of a slot": list({ provider: "provider-a" }),
    "of a slot without deliveries": list({ provider: "provider-c" }),
    "of a type": list({ type: "customer.subscription.updated" }),
    "of a type that never came": list({ type: "customer.unknown" }),
    failed: byStatus("failed"),
    pending: byStatus("pending"),
    successful: byStatus("successful"),
    "failed of a type": list({ status: "failed", type: "customer.unknown" }),
    "of an event": list({ eventId: example.eventId }),
    "of a subscription": list({ subscriptionId: example.subscriptionId }),
    "failed of a subscription": list({ subscriptionId: example.subscriptionId, status: "failed" }),
    "one delivery": (database) => findLoggedDelivery(database, example.id),
    "attempts of one delivery": (database) => attemptsOf(database, example.id),
    "history of a subscription": (database) => historyOf(database, example.subscriptionId, FIRST_PAGE),
    "last event of a subscription": (database) => lastEventId(database, example.subscriptionId),
    "which events are known": (database) =>
      findKnownDeliveries(database, [{ provider: "provider-a", eventId: example.eventId }]),
    "which deliveries are locked": (database) =>
      findLocked(database, [{ provider: "provider-a", eventId: example.eventId }]),
    "statistics of all slots": (database) => countDeliveries(database, { provider: null }),
    "statistics of a slot": (database) => countDeliveries(database, { provider: "provider-a" }),
    "due retries": (database) => reclaimDue(database, { ...lease, maxBytes: 4_194_304 }),
    "stuck deliveries": (database) => giveUpStuck(database),
    "reclaim of one": (database) => reclaimOne(database, example.failedId, lease),
    "reclaim of a successful one": (database) => reclaimSuccessful(database, example.id),
    "status of one": (database) => findDeliveryStatus(database, example.id),
    retention: (database) => dropPayloads(database, { olderThanDays: 90, limit: 1_000 }),
    "redaction of a user": (database) =>
      nextSuspects(database, [{ userId: "user_nobody", subscriptions: [], customers: [] }], "0"),
  };
}
