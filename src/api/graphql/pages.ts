import type { ObjectRef } from "@pothos/core";
import type { Page } from "../../operations/page.ts";
import { builder } from "./builder.ts";
import * as types from "./types.ts";

export const SubscriptionPage = pageOf("SubscriptionPage", types.Subscription);
export const UserPage = pageOf("UserPage", types.User);
export const PaymentPage = pageOf("PaymentPage", types.Payment);
export const PlanPage = pageOf("PlanPage", types.Plan);
export const NotificationPage = pageOf("NotificationPage", types.Notification);
export const ApiKeyPage = pageOf("ApiKeyPage", types.ApiKey);
export const DeliveryPage = pageOf("DeliveryPage", types.Delivery);

function pageOf<Item>(name: string, item: ObjectRef<typeof builder.$inferSchemaTypes, Item>) {
  return builder.objectRef<Page<Item>>(name).implement({
    fields: (t) => ({
      items: t.field({ type: [item], resolve: (page) => page.items as never }),
      nextCursor: t.exposeString("nextCursor", {
        nullable: true,
        description: "The cursor of the next page; null on the last page.",
      }),
    }),
  });
}
