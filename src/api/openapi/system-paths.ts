import { JOB_NAMES, JOB_OUTCOMES } from "../../domain/job.ts";
import { resumeAnswer } from "../../operations/chat/resume-answer.ts";
import { sendMessage } from "../../operations/chat/send-message.ts";
import { streamEvents } from "../../operations/events/stream-events.ts";
import { COUNTED_HEADERS } from "./components.ts";
import { refusals } from "./error-responses.ts";
import { jsonResponse } from "./json-response.ts";
import { PROVIDER_WEBHOOK_PATH } from "./provider-webhook-path.ts";
import { type JsonSchema, Schemas } from "./schemas.ts";
import { SYSTEM_TAG } from "./tags.ts";

/** Paths that are not operations. */
export const SYSTEM_PATHS: Record<string, JsonSchema> = {
  "/version": openGet({
    operationId: "showVersion",
    summary: "Lists the versions of this API",
    responses: {
      "200": jsonResponse("The versions and their status.", {
        type: "object",
        properties: {
          current: { type: "string", description: "The version of requests without one." },
          supported: {
            type: "array",
            items: { type: "string" },
            description: "The versions that are served.",
          },
          versions: {
            type: "object",
            description: "Each version's status.",
            additionalProperties: {
              type: "object",
              properties: {
                deprecated: { type: "boolean", description: "Whether the version is deprecated." },
                sunset: { type: "string", format: "date", description: "When it will be removed." },
              },
              required: ["deprecated"],
            },
          },
        },
        required: ["current", "supported", "versions"],
      }),
      ...refusals("invalid_input"),
    },
  }),
  "/health": openGet({
    operationId: "showHealth",
    summary: "Checks whether the process is running",
    responses: {
      "200": jsonResponse("It does.", statusSchema("ok")),
      ...refusals("invalid_input"),
    },
  }),
  "/ready": openGet({
    operationId: "showReadiness",
    summary: "Checks whether the database can be written to and its schema is current",
    responses: {
      "200": jsonResponse("Ready to serve.", statusSchema("ready")),
      ...refusals("invalid_input", "unavailable"),
    },
  }),
  "/chat": {
    post: {
      operationId: "sendMessage",
      summary: "Sends a message to the assistant; the answer is an AI SDK UI message stream",
      description: "For signed-in users, by session or API key. Limited by `ai-chat`.",
      tags: [SYSTEM_TAG.name],
      requestBody: {
        required: true,
        content: { "application/json": { schema: new Schemas().of(sendMessage.input, "input") } },
      },
      responses: {
        "200": eventStream("Server-sent events that end with `data: [DONE]`."),
        ...refusals("invalid_input", "unauthorized", "forbidden", "too_large", "rate_limited", "unavailable"),
      },
    },
  },
  "/chat/{id}/stream": {
    get: {
      operationId: "resumeAnswer",
      summary: resumeAnswer.summary,
      description: "For signed-in users, by session or API key. Limited by `api`.",
      tags: [SYSTEM_TAG.name],
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
        "200": eventStream("Server-sent events that end with `data: [DONE]`."),
        "204": { description: "No answer is in progress." },
        ...refusals("invalid_input", "unauthorized", "forbidden", "rate_limited", "unavailable"),
      },
    },
  },
  "/events/stream": {
    get: {
      operationId: "streamEvents",
      summary: `${streamEvents.summary}: \`id\`, \`event\` (the type) and \`data\` (the event as JSON)`,
      description: "For service keys with `events:read`. Limited by the key's own limit.",
      tags: ["Events"],
      security: [{ bearer: [] }, { apiKey: [] }],
      parameters: [
        {
          name: "after",
          in: "query",
          required: false,
          description: "Start after this event; if omitted, with the next one.",
          schema: { type: "string" },
        },
        {
          name: "Last-Event-ID",
          in: "header",
          required: false,
          description: "Sent by clients that reconnect; takes precedence over `after`.",
          schema: { type: "string" },
        },
      ],
      responses: {
        "200": eventStream("Server-sent events, with a comment every 15 seconds."),
        ...refusals("invalid_input", "unauthorized", "forbidden", "gone", "rate_limited", "unavailable"),
      },
    },
  },
  "/openapi.json": openGet({
    operationId: "showDocument",
    summary: "Returns this document",
    responses: {
      "200": jsonResponse("In the shapes of the requested version.", {
        type: "object",
        properties: {
          openapi: { type: "string", description: "The version of OpenAPI." },
          paths: { type: "object", description: "The paths of this API." },
        },
        required: ["openapi", "paths"],
      }),
      ...refusals("invalid_input"),
    },
  }),
  "/cron/{job}": {
    get: {
      operationId: "runJob",
      summary: "Runs a periodic job once, for hosts that keep no process running between requests",
      description:
        "One run at a time, over all processes: `already_running` means that another process is running it, `disabled` that this configuration does not need it. Without `CRON_SECRET`: 404.",
      tags: [SYSTEM_TAG.name],
      security: [{ cron: [] }],
      parameters: [
        {
          name: "job",
          in: "path",
          required: true,
          description: "The job to run.",
          schema: { type: "string", enum: JOB_NAMES },
        },
      ],
      responses: {
        "200": jsonResponse("How the run ended.", {
          type: "object",
          properties: {
            job: { type: "string", enum: JOB_NAMES, description: "The job." },
            outcome: {
              type: "string",
              enum: JOB_OUTCOMES.filter((outcome) => outcome !== "failed"),
              description: "How the run ended.",
            },
          },
          required: ["job", "outcome"],
        }),
        ...refusals("invalid_input", "unauthorized", "not_found", "unavailable"),
      },
    },
  },
  ...PROVIDER_WEBHOOK_PATH,
};

function openGet(described: { operationId: string; summary: string; responses: JsonSchema }): JsonSchema {
  const { operationId, summary, responses } = described;
  const description = "For anyone. Not limited.";
  return { get: { operationId, summary, description, tags: [SYSTEM_TAG.name], security: [], responses } };
}

function eventStream(description: string): JsonSchema {
  return {
    description,
    headers: COUNTED_HEADERS,
    content: { "text/event-stream": { schema: { type: "string" } } },
  };
}

function statusSchema(value: string): JsonSchema {
  return {
    type: "object",
    properties: { status: { const: value, description: `Always \`${value}\`.` } },
    required: ["status"],
  };
}
