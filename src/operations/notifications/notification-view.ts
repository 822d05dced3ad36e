import { z } from "zod";
import { format } from "../../domain/invalid-input.ts";
import { NOTIFICATION_KINDS } from "../../domain/notification.ts";

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

export const NotificationId = z
  .string()
  .regex(/^[1-9]\d{0,17}$/, format("number_id"))
  .describe("The notification's id.");
