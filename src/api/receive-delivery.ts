import type { IncomingMessage } from "node:http";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Slot } from "../domain/slot.ts";
import { BodyAbandoned, BodyAborted, readBody } from "../http/read-body.ts";
import { UNAVAILABLE_RETRY_AFTER_SECONDS } from "../http/retry-after.ts";
import type { Intake, ReceiveResult } from "../intake/intake.ts";
import type { ThrottledLog } from "../observability/limit-repeats.ts";

export type WebhookOptions = {
  intake: Pick<Intake, "receive">;
  /** Larger bodies are refused while they stream in. */
  maxBodyBytes: number;
  secretVariables: Record<Slot, string>;
  /** Called with each delivery's outcome; `null`: metrics are disabled. */
  observe: ((slot: Slot, outcome: ReceiveResult["outcome"]) => void) | null;
  log: ThrottledLog;
};

const UNAVAILABLE = {
  overloaded: "more deliveries are waiting than can be answered in time",
  "too slow": "it could not be processed in time",
  database: "the database is unavailable or too slow",
} as const;

export type WebhookResponse = {
  status: ContentfulStatusCode;
  body: object;
  headers?: Record<string, string>;
};

const UNAVAILABLE_RESPONSE: WebhookResponse = {
  status: 503,
  body: { error: "Service unavailable" },
  headers: { "retry-after": `${UNAVAILABLE_RETRY_AFTER_SECONDS}` },
};

/** Receives one delivery to a slot. @throws BodyTooLarge */
export async function receiveDelivery(
  options: WebhookOptions,
  slot: Slot,
  incoming: IncomingMessage,
  requestId: string,
): Promise<WebhookResponse> {
  try {
    const rawBody = await readBody(incoming, options.maxBodyBytes);
    const { headers } = incoming;
    const result = await options.intake.receive(slot, {
      rawBody,
      // Node joins repeated headers with ", ": such a signature does not verify.
      header: (name) => headers[name] as string | undefined,
    });
    options.observe?.(slot, result.outcome);
    logOutcome(options, slot, requestId, result);
    return responseTo(result);
  } catch (error) {
    if (error instanceof BodyAbandoned) return UNAVAILABLE_RESPONSE;
    if (error instanceof BodyAborted) return { status: 400, body: { error: "Request aborted" } };
    throw error;
  }
}

function responseTo(result: ReceiveResult): WebhookResponse {
  switch (result.outcome) {
    case "applied":
      return { status: 200, body: { received: true } };
    case "duplicate":
      return { status: 200, body: { received: true, duplicate: true } };
    case "ignored":
      return { status: 200, body: { received: true, ignored: true } };
    case "deferred":
      return { status: 200, body: { received: true, deferred: true } };
    case "refused":
      return { status: 400, body: { error: "Invalid signature" } };
    case "invalid":
      return { status: 400, body: { error: `Invalid payload: ${result.problem}` } };
    case "failed":
      return { status: 500, body: { error: "Processing failed" } };
    case "unavailable":
      return UNAVAILABLE_RESPONSE;
    default:
      return result satisfies never;
  }
}

/** The failed check is logged only: the sender must not learn it. */
function logOutcome(options: WebhookOptions, slot: Slot, requestId: string, result: ReceiveResult): void {
  switch (result.outcome) {
    case "refused":
      if (result.problem === "no secret configured") {
        options.log.error(
          { slot, requestId },
          `delivery refused: ${options.secretVariables[slot]} is not set`,
        );
      } else {
        options.log.warn({ slot, requestId, problem: result.problem }, "delivery refused: signature");
      }
      break;
    case "invalid":
      options.log.warn({ slot, requestId, problem: result.problem }, "delivery refused: payload");
      break;
    case "failed":
    case "deferred":
      options.log.error(
        { slot, requestId, deliveryId: result.deliveryId },
        'delivery failed, to be retried: "webhooks show" says why',
      );
      break;
    case "unavailable":
      options.log.error({ slot, requestId }, `delivery not accepted: ${UNAVAILABLE[result.cause]}`);
      break;
    default:
      options.log.debug({ slot, requestId, outcome: result.outcome }, "delivery accepted");
  }
}
