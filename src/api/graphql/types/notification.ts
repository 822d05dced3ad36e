import type { listNotifications } from "../../../operations/notifications/list-notifications.ts";
import { NotificationView } from "../../../operations/notifications/notification-view.ts";
import { builder } from "../builder.ts";
import * as enums from "../enums.ts";
import type { ItemOf } from "./operation-output.ts";

export const Notification = builder.objectRef<ItemOf<typeof listNotifications>>("Notification").implement({
  extensions: { view: NotificationView },
  fields: (t) => ({
    id: t.exposeID("id"),
    kind: t.expose("kind", { type: enums.NotificationKindEnum }),
    details: t.expose("details", { type: "JSON" }),
    createdAt: t.expose("createdAt", { type: "DateTime" }),
    readAt: t.expose("readAt", { type: "DateTime", nullable: true }),
  }),
});
