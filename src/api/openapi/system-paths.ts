import { JOB_NAMES, JOB_OUTCOMES } from "../../domain/job.ts";
import { resumeAnswer } from "../../operations/chat/resume-answer.ts";
import { sendMessage } from "../../operations/chat/send-message.ts";
import { streamEvents } from "../../operations/events/stream-events.ts";
import { errorSchema } from "./components.ts";
import { type JsonSchema, Schemas } from "./schemas.ts";

/** Paths that are not operations. */
export const SYSTEM_PATHS: Record<string, JsonSchema> = {
  "/version": {
    get: {
      operationId: "showVersion",
      summary: "The versions of this API",
      tags: ["System"],
      security: [],
      responses: {
        "200": jsonResponse("The versions and what is planned for them.", {
          type: "object",
          properties: {
            current: { type: "string" },
            supported: { type: "array", items: { type: "string" } },
            versions: {
              type: "object",
              additionalProperties: {
                type: "object",
                properties: { deprecated: { type: "boolean" }, sunset: { type: "string", format: "date" } },
                required: ["deprecated"],
              },
            },
          },
          required: ["current", "supported", "versions"],
        }),
        "400": { $ref: "#/components/responses/InvalidInput" },
      },
    },
  },
  "/health": {
    get: {
      operationId: "showHealth",
      summary: "Whether the process is running",
      tags: ["System"],
      security: [],
      responses: {
        "200": jsonResponse("It does.", statusSchema("ok")),
        "400": { $ref: "#/components/responses/InvalidInput" },
      },
    },
  },
  "/ready": {
    get: {
      operationId: "showReadiness",
      summary: "Whether the database responds and its schema is up to date",
      tags: ["System"],
      security: [],
      responses: {
        "200": jsonResponse("Ready to serve.", statusSchema("ready")),
        "400": { $ref: "#/components/responses/InvalidInput" },
        "503": { $ref: "#/components/responses/Unavailable" },
      },
    },
  },
  "/chat": {
    post: {
      operationId: "sendMessage",
      summary: "Sends a message to the assistant; the answer is an AI SDK UI message stream",
      tags: ["System"],
      requestBody: {
        required: true,
        content: { "application/json": { schema: new Schemas().of(sendMessage.input, "input") } },
      },
      responses: {
        "200": {
          description: "Server-sent events that end with `data: [DONE]`.",
          headers: { "X-RateLimit-Remaining": { $ref: "#/components/headers/RateLimitRemaining" } },
          content: { "text/event-stream": { schema: { type: "string" } } },
        },
        "400": { $ref: "#/components/responses/InvalidInput" },
        "401": { $ref: "#/components/responses/Unauthorized" },
        "403": { $ref: "#/components/responses/Forbidden" },
        "413": { $ref: "#/components/responses/TooLarge" },
        "429": { $ref: "#/components/responses/TooManyRequests" },
        "503": { $ref: "#/components/responses/Unavailable" },
      },
    },
  },
  "/chat/{id}/stream": {
    get: {
      operationId: "resumeAnswer",
      summary: resumeAnswer.summary,
      tags: ["System"],
      parameters: [
        {
          name: "id",
          in: "path",
          required: true,
          description: "The `id` that was sent with the message.",
          schema: new Schemas().of(resumeAnswer.input.shape.id, "input"),
        },
      ],
      responses: {
        "200": {
          description: "Server-sent events that end with `data: [DONE]`.",
          headers: { "X-RateLimit-Remaining": { $ref: "#/components/headers/RateLimitRemaining" } },
          content: { "text/event-stream": { schema: { type: "string" } } },
        },
        "204": { description: "No answer is being written." },
        "400": { $ref: "#/components/responses/InvalidInput" },
        "401": { $ref: "#/components/responses/Unauthorized" },
        "403": { $ref: "#/components/responses/Forbidden" },
        "429": { $ref: "#/components/responses/TooManyRequests" },
        "503": { $ref: "#/components/responses/Unavailable" },
      },
    },
  },
  "/events/stream": {
    get: {
      operationId: "streamEvents",
      summary: `${streamEvents.summary}: \`id\`, \`event\` (the type) and \`data\` (the event as JSON)`,
      tags: ["Events"],
      security: [{ bearer: [] }, { apiKey: [] }],
      parameters: [
        {
          name: "after",
          in: "query",
          required: false,
          description: "Begin after this event; omit it for what happens from now on.",
          schema: { type: "string" },
        },
        {
          name: "Last-Event-ID",
          in: "header",
          required: false,
          description: "Sent by clients that reconnect; comes before `after`.",
          schema: { type: "string" },
        },
      ],
      responses: {
        "200": {
          description: "Server-sent events, with a comment every 15 seconds.",
          headers: { "X-RateLimit-Remaining": { $ref: "#/components/headers/RateLimitRemaining" } },
          content: { "text/event-stream": { schema: { type: "string" } } },
        },
        "400": { $ref: "#/components/responses/InvalidInput" },
        "401": { $ref: "#/components/responses/Unauthorized" },
        "403": { $ref: "#/components/responses/Forbidden" },
        "410": { $ref: "#/components/responses/Gone" },
        "429": { $ref: "#/components/responses/TooManyRequests" },
        "503": { $ref: "#/components/responses/Unavailable" },
      },
    },
  },
  "/openapi.json": {
    get: {
      operationId: "showDocument",
      summary: "This document",
      tags: ["System"],
      security: [],
      responses: {
        "200": jsonResponse("In the shapes of the version that was asked for.", {
          type: "object",
          properties: { openapi: { type: "string" }, paths: { type: "object" } },
          required: ["openapi", "paths"],
        }),
        "400": { $ref: "#/components/responses/InvalidInput" },
      },
    },
  },
  "/cron/{job}": {
    get: {
      operationId: "runJob",
      summary: "Runs a periodic job once, for hosts that keep no process running between requests",
      description:
        "One run at a time, over all processes: `already_running` means that another one runs it, `disabled` that this configuration does not need it. Without CRON_SECRET: 404.",
      tags: ["System"],
      security: [{ cron: [] }],
      parameters: [{ name: "job", in: "path", required: true, schema: { type: "string", enum: JOB_NAMES } }],
      responses: {
        "200": jsonResponse("How the run ended.", {
          type: "object",
          properties: {
            job: { type: "string", enum: JOB_NAMES },
            outcome: { type: "string", enum: JOB_OUTCOMES.filter((outcome) => outcome !== "failed") },
          },
          required: ["job", "outcome"],
        }),
        "400": { $ref: "#/components/responses/InvalidInput" },
        "401": { $ref: "#/components/responses/Unauthorized" },
        "404": { $ref: "#/components/responses/NotFound" },
        "503": { $ref: "#/components/responses/Unavailable" },
      },
    },
  },
  "/webhooks/{slot}": {
    post: {
      operationId: "receiveWebhook",
      summary: "Receives a payment provider's signed event",
      description: "Authenticated by the provider's signature header over the raw body.",
      tags: ["System"],
      security: [],
      parameters: [
        {
          name: "slot",
          in: "path",
          required: true,
          schema: { type: "string", enum: ["provider-a", "provider-b", "provider-c"] },
        },
      ],
      requestBody: { required: true, content: { "application/json": { schema: { type: "object" } } } },
      responses: {
        "200": jsonResponse("Durable, or known already.", {
          type: "object",
          properties: {
            received: { const: true },
            duplicate: { const: true },
            ignored: { const: true },
            deferred: { const: true },
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
  return { description, content: { "application/json": { schema: errorSchema("v1") } } };
}

function jsonResponse(description: string, schema: JsonSchema): JsonSchema {
  return {
    description,
    headers: {
      "X-Request-Id": { $ref: "#/components/headers/RequestId" },
      "X-API-Version": { $ref: "#/components/headers/ApiVersion" },
    },
    content: { "application/json": { schema } },
  };
}

function statusSchema(value: string): JsonSchema {
  return { type: "object", properties: { status: { const: value } }, required: ["status"] };
}
