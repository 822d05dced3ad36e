import { z } from "zod";
import { refuse } from "../../domain/refusal.ts";
import type { LoggedDelivery } from "../../store/delivery-log.ts";

/** A webhook delivery, wherever it is shown. Times are ISO 8601. */
export type Delivery = Omit<LoggedDelivery, "receivedAt" | "completedAt" | "nextAttemptAt"> & {
  receivedAt: string;
  completedAt: string | null;
  nextAttemptAt: string | null;
};

export const DeliveryId = z.string().regex(/^[1-9]\d{0,17}$/, "expected a delivery's number, e.g. 42");

export function toDelivery(logged: LoggedDelivery): Delivery {
  return {
    id: logged.id,
    provider: logged.provider,
    eventId: logged.eventId,
    eventType: logged.eventType,
    status: logged.status,
    attempts: logged.attempts,
    lastError: logged.lastError,
    receivedAt: logged.receivedAt.toISOString(),
    completedAt: logged.completedAt?.toISOString() ?? null,
    nextAttemptAt: logged.nextAttemptAt?.toISOString() ?? null,
  };
}

/** @throws Refusal */
export function refuseUnknown(id: string): never {
  refuse("not_found", `there is no delivery ${id}`);
}
