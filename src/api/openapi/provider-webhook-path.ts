import { SLOTS } from "../../domain/slot.ts";
import { COMMON_HEADERS, errorSchema } from "./components.ts";
import { jsonResponse } from "./json-response.ts";
import type { JsonSchema } from "./schemas.ts";
import { SYSTEM_TAG } from "./tags.ts";

/** Where payment providers send their events. */
export const PROVIDER_WEBHOOK_PATH: Record<string, JsonSchema> = {
  "/webhooks/{slot}": {
    post: {
      operationId: "receiveWebhook",
      summary: "Receives a payment provider's signed event",
      description: "Authenticated by the provider's signature header over the raw body.",
      tags: [SYSTEM_TAG.name],
      security: [],
      parameters: [
        {
          name: "slot",
          in: "path",
          required: true,
          description: "The provider slot that the webhook is for.",
          schema: { type: "string", enum: SLOTS },
        },
      ],
      requestBody: {
        required: true,
        content: {
          "application/json": { schema: { type: "object", description: "As the provider sends it." } },
        },
      },
      responses: {
        "200": jsonResponse("Durable, or known already.", {
          type: "object",
          properties: {
            received: { const: true, description: "Always true." },
            duplicate: { const: true, description: "Whether the event was received before." },
            ignored: { const: true, description: "Whether the event has no effect." },
            deferred: { const: true, description: "Whether processing failed and is retried." },
          },
          required: ["received"],
        }),
        "400": webhookError("The signature or the payload is invalid."),
        "404": webhookError("There is no such slot."),
        "413": webhookError("The body is larger than allowed."),
        "500": webhookError("Processing failed; it is retried."),
        "503": webhookError("Not stored: deliver it again."),
      },
    },
  },
};

/** Payment providers read the status alone: the same in every version. */
function webhookError(description: string): JsonSchema {
  return {
    description,
    headers: COMMON_HEADERS,
    content: { "application/json": { schema: errorSchema("v1") } },
  };
}
