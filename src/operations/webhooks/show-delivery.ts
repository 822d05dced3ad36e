import { z } from "zod";
import type { Queryable } from "../../store/database.ts";
import { attemptsOf, findLoggedDelivery, type LoggedAttempt } from "../../store/delivery-log.ts";
import { type Delivery, DeliveryId, refuseUnknown, toDelivery } from "./delivery.ts";

export const ShowDelivery = z.strictObject({ id: DeliveryId });

type Attempt = Omit<LoggedAttempt, "startedAt"> & { startedAt: string };

export type DeliveryInDetail = Delivery & {
  /** `null` when it is no longer kept. */
  payload: unknown;
  /** Every attempt that is over, the first one first. */
  attemptLog: Attempt[];
};

/** One delivery with its payload and its attempts. @throws Refusal `not_found` */
export async function showDelivery(
  deps: { database: Queryable },
  { id }: z.output<typeof ShowDelivery>,
): Promise<DeliveryInDetail> {
  const logged = (await findLoggedDelivery(deps.database, id)) ?? refuseUnknown(id);
  const attempts = await attemptsOf(deps.database, id);
  return {
    ...toDelivery(logged),
    payload: logged.payload === null ? null : JSON.parse(logged.payload),
    attemptLog: attempts.map((attempt) => ({ ...attempt, startedAt: attempt.startedAt.toISOString() })),
  };
}
