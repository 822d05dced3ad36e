import { z } from "zod";
import { NOTIFICATION_KINDS } from "../../domain/notifications/notification.ts";
import { NumberId } from "../page.ts";

/** A notification, wherever it is shown. */
export const NotificationView = z
  .object({
    id: z.string().describe("The notification's id."),
    kind: z.enum(NOTIFICATION_KINDS).describe("What it is about."),
    details: z
      .record(z.string(), z.unknown())
      .describe("Details of the notification, such as the id of a plan."),
    createdAt: z.date().describe("When it was created."),
    readAt: z.date().nullable().describe("When it was first read; `null`: unread."),
  })
  .meta({ id: "Notification", description: "A message to a user about their plan, keys or account." });

export const NotificationId = NumberId.describe("The notification's id.");
