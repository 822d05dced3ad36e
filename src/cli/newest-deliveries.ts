import { OPERATOR } from "../domain/caller.ts";
import type { DeliveryStatus } from "../domain/delivery.ts";
import { invalidInput } from "../domain/invalid-input.ts";
import type { Slot } from "../domain/slot.ts";
import type { Page } from "../operations/page.ts";
import type { Delivery } from "../operations/webhooks/delivery-view.ts";
import { listDeliveries } from "../operations/webhooks/list-deliveries.ts";
import { collectPages, type PageOptions } from "./collect-pages.ts";

export function newestDeliveries(
  deps: Parameters<typeof listDeliveries.run>[0],
  filter: { provider: Slot | null; status: DeliveryStatus | null },
  options: PageOptions,
): Promise<Page<Delivery>> {
  return collectPages(options, (page) => {
    const input = listDeliveries.input.safeParse({ ...filter, ...page });
    if (!input.success) throw invalidInput(input.error);
    return listDeliveries.run(deps, OPERATOR, input.data);
  });
}
