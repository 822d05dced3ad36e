import type { Delivery } from "../operations/webhooks/delivery.ts";
import { ListDeliveries, listDeliveries } from "../operations/webhooks/list-deliveries.ts";

const LARGEST_PAGE = 100;

/** Follows the pages of the log until there are enough, or no more. */
export async function newestDeliveries(
  deps: Parameters<typeof listDeliveries>[0],
  filter: Pick<Parameters<typeof listDeliveries>[1], "provider" | "status">,
  limit: number,
): Promise<Delivery[]> {
  const found: Delivery[] = [];
  let cursor: string | null = null;
  do {
    const page = ListDeliveries.parse({
      ...filter,
      cursor,
      limit: Math.min(LARGEST_PAGE, limit - found.length),
    });
    const { deliveries, nextCursor } = await listDeliveries(deps, page);
    found.push(...deliveries);
    cursor = nextCursor;
  } while (cursor !== null && found.length < limit);
  return found;
}
