import type { ObjectRef } from "@pothos/core";
import type { Page } from "../../operations/page.ts";
import { builder } from "./builder.ts";
import { ApiKey } from "./types/api-key.ts";
import { Delivery } from "./types/delivery.ts";
import { Notification } from "./types/notification.ts";
import { Payment } from "./types/payment.ts";
import { Plan } from "./types/plan.ts";
import { ServiceKey } from "./types/service-key.ts";
import { Subscription } from "./types/subscription.ts";
import { User } from "./types/user.ts";

export const SubscriptionPage = pageOf("SubscriptionPage", Subscription);
export const UserPage = pageOf("UserPage", User);
export const PaymentPage = pageOf("PaymentPage", Payment);
export const PlanPage = pageOf("PlanPage", Plan);
export const NotificationPage = pageOf("NotificationPage", Notification);
export const ApiKeyPage = pageOf("ApiKeyPage", ApiKey);
export const ServiceKeyPage = pageOf("ServiceKeyPage", ServiceKey);
export const DeliveryPage = pageOf("DeliveryPage", Delivery);

function pageOf<Item>(name: string, item: ObjectRef<typeof builder.$inferSchemaTypes, Item>) {
  return builder.objectRef<Page<Item>>(name).implement({
    description: `A page of a list of type ${item.name}.`,
    fields: (t) => ({
      items: t.field({
        type: [item],
        description: "The items of this page.",
        resolve: (page) => page.items as never,
      }),
      nextCursor: t.exposeString("nextCursor", {
        nullable: true,
        description: "The cursor of the next page; null on the last page.",
      }),
    }),
  });
}
