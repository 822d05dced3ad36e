import { z } from "zod";
import { DELIVERY_STATUSES } from "../../domain/delivery.ts";
import { SLOTS } from "../../domain/slot.ts";
import type { Queryable } from "../../store/database.ts";
import { listLoggedDeliveries } from "../../store/delivery-log.ts";
import { type Delivery, DeliveryId, toDelivery } from "./delivery.ts";

export const ListDeliveries = z.strictObject({
  provider: z.enum(SLOTS).nullable().default(null),
  status: z.enum(DELIVERY_STATUSES).nullable().default(null),
  /** The provider's own name of the event, as delivered. */
  type: z.string().min(1).max(255).nullable().default(null),
  limit: z.int().min(1).max(100).default(20),
  /** The `nextCursor` of the page before. */
  cursor: DeliveryId.nullable().default(null),
});

/** The log of deliveries, newest first. A page may be short, or empty, and not be the last: follow the cursor. */
export async function listDeliveries(
  deps: { database: Queryable },
  { cursor, limit, ...filter }: z.output<typeof ListDeliveries>,
): Promise<{ deliveries: Delivery[]; nextCursor: string | null }> {
  const { deliveries, next } = await listLoggedDeliveries(deps.database, filter, { before: cursor, limit });
  return { deliveries: deliveries.map(toDelivery), nextCursor: next };
}
