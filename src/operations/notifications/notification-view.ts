import { z } from "zod";
import { format } from "../../domain/invalid-input.ts";
import { NOTIFICATION_KINDS } from "../../domain/notification.ts";

/** A notification, wherever it is shown. */
export const NotificationView = z
  .object({
    id: z.string(),
    kind: z.enum(NOTIFICATION_KINDS),
    details: z
      .record(z.string(), z.unknown())
      .describe("Details of the notification, such as the id of a plan."),
    createdAt: z.date(),
    readAt: z.date().nullable(),
  })
  .meta({ id: "Notification" });

export const NotificationId = z.string().regex(/^[1-9]\d{0,17}$/, format("number_id"));
