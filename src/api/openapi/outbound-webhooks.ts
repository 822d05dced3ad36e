import { z } from "zod";
import { OUTBOUND_EVENT_TYPES, type OutboundEventType } from "../../domain/outbound/outbound-event.ts";
import { EntitlementsView } from "../../operations/entitlements/current-view.ts";
import { EventView } from "../../operations/events/event-view.ts";
import { PaymentView } from "../../operations/payments/payment-view.ts";
import { SubscriptionView } from "../../operations/subscriptions/subscription-view.ts";
import type { JsonSchema, Schemas } from "./schemas.ts";

/** `webhooks` of OpenAPI 3.1: the requests that event endpoints receive, one per type. */
export function outboundWebhooks(schemas: Schemas): JsonSchema {
  return Object.fromEntries(
    OUTBOUND_EVENT_TYPES.map((type) => [type, { post: describeEvent(type, schemas) }]),
  );
}

function describeEvent(type: OutboundEventType, schemas: Schemas): JsonSchema {
  const event = EventView.extend({
    type: z.literal(type).describe("The type of the event."),
    data: dataOf(type).describe("The object of the event."),
  });
  return {
    operationId: `receive${type.replace(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase())}`,
    summary: SUMMARIES[type],
    description:
      "Sent to every enabled endpoint that receives this type, at least once, and in order per subscription.",
    tags: ["Event endpoints"],
    // The signature in the headers is what proves the sender.
    security: [],
    parameters: HEADERS,
    requestBody: {
      required: true,
      content: { "application/json": { schema: schemas.of(event, "output") } },
    },
    responses: {
      "2XX": { description: "Received." },
      "4XX": {
        description: "Not received: it is retried, and later events of the same subscription wait.",
      },
      "5XX": { description: "Not received, as above." },
    },
  };
}

const externalId = z.string().nullable().describe("The user's id in another system; `null`: none.");

const OWNER = {
  userId: z.string().nullable().describe("The user; `null` once the account has been deleted."),
  externalId,
};

const PAYER = {
  userId: z
    .string()
    .nullable()
    .describe(
      "The user; `null` once the account has been deleted, and while the payment's subscription is not known: then the event is sent again once it is.",
    ),
};

function dataOf(type: OutboundEventType): z.ZodType {
  switch (type) {
    case "subscription.started":
    case "subscription.changed":
    case "subscription.past_due":
    case "subscription.ended":
      return z.object({
        ...OWNER,
        subscription: SubscriptionView.describe("The subscription after the change."),
      });
    case "payment.paid":
    case "payment.failed":
    case "payment.refunded":
    case "payment.disputed":
      return z.object({ ...OWNER, ...PAYER, payment: PaymentView.describe("The payment.") });
    case "user.created":
    case "user.updated":
    case "user.deleted":
      return z.object({ id: z.string().describe("The user's id."), externalId });
    case "entitlements.changed":
      return z.object({
        ...OWNER,
        entitlements: EntitlementsView.describe("The user's entitlements after the change."),
      });
    default:
      return type satisfies never;
  }
}

const SUMMARIES: Record<OutboundEventType, string> = {
  "subscription.started": "A subscription has started",
  "subscription.changed": "The plan, the seats, the period or the end of a subscription has changed",
  "subscription.past_due": "A payment for a subscription is due",
  "subscription.ended": "A subscription has ended",
  "payment.paid": "A payment was made",
  "payment.failed": "A payment failed",
  "payment.refunded": "A payment was refunded, in full or in part",
  "payment.disputed": "A payment is disputed",
  "user.created": "A user was created",
  "user.updated": "A user was changed",
  "user.deleted": "A user was deleted",
  "entitlements.changed": "What a user may do has changed",
};

const HEADERS = [
  header("webhook-id", "The event's id: the same for every attempt."),
  header("webhook-timestamp", "When this attempt was made, in Unix seconds."),
  header(
    "webhook-signature",
    "`v1,` and the HMAC-SHA256 of `<id>.<timestamp>.<body>` in base64; several, separated by spaces, while secrets are rotated.",
  ),
];

function header(name: string, description: string): JsonSchema {
  return { name, in: "header", required: true, description, schema: { type: "string" } };
}
