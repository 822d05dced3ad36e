import type { DeliveryStatus } from "../../domain/deliveries/delivery.ts";
import type { Slot } from "../../domain/slot.ts";
import type { Page } from "../../operations/page.ts";
import type { Delivery } from "../../operations/webhooks/delivery-view.ts";
import { listDeliveries } from "../../operations/webhooks/list-deliveries.ts";
import { collectPages, type PageOptions } from "../collect-pages.ts";
import { runAsOperator } from "../run-as-operator.ts";

export function newestDeliveries(
  deps: Parameters<typeof listDeliveries.run>[0],
  filter: { provider: Slot | null; status: DeliveryStatus | null },
  options: PageOptions,
): Promise<Page<Delivery>> {
  return collectPages(options, (page) => runAsOperator(listDeliveries, deps, { ...filter, ...page }));
}
