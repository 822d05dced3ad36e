import { OPERATOR } from "../domain/caller.ts";
import type { DeliveryStatus } from "../domain/delivery.ts";
import type { Slot } from "../domain/slot.ts";
import type { Delivery } from "../operations/webhooks/delivery.ts";
import { listDeliveries } from "../operations/webhooks/list-deliveries.ts";

const LARGEST_PAGE = 100;

/** Follows the pages of the log until there are enough, or no more. */
export async function newestDeliveries(
  deps: Parameters<typeof listDeliveries.run>[0],
  filter: { provider: Slot | null; status: DeliveryStatus | null },
  limit: number,
): Promise<Delivery[]> {
  const found: Delivery[] = [];
  let cursor: string | null = null;
  do {
    const page = listDeliveries.input.parse({
      ...filter,
      cursor,
      limit: Math.min(LARGEST_PAGE, limit - found.length),
    });
    const { items, nextCursor } = await listDeliveries.run(deps, OPERATOR, page);
    found.push(...items);
    cursor = nextCursor;
  } while (cursor !== null && found.length < limit);
  return found;
}
