import { type Context, Hono } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { isSlot, type Slot } from "../domain/slot.ts";
import type { HonoEnv } from "../http/hono-env.ts";
import { BodyAbandoned, BodyAborted, BodyTooLarge, readBody } from "../http/read-body.ts";
import { answerJson } from "../http/response-headers.ts";
import type { Intake, ReceiveResult } from "../intake/intake.ts";
import type { Log } from "../observability/log.ts";

export type WebhookOptions = {
  intake: Pick<Intake, "receive">;
  /** Larger bodies are refused while they stream in. */
  maxBodyBytes: number;
  secretVariables: Record<Slot, string>;
  /** Called with each delivery's outcome; `null`: metrics are disabled. */
  observe: ((slot: Slot, outcome: ReceiveResult["outcome"]) => void) | null;
  log: Log;
};

const RETRY_AFTER_SECONDS = "5";

const UNAVAILABLE = {
  overloaded: "more deliveries are waiting than can be answered in time",
  "too slow": "it could not be processed in time",
  database: "the database is unavailable or too slow",
} as const;

type WebhookResponse = { status: ContentfulStatusCode; body: object; headers?: Record<string, string> };

/** `POST /api/webhooks/<slot>` */
export function webhooks(options: WebhookOptions): Hono<HonoEnv> {
  const routes = new Hono<HonoEnv>();
  routes.all("/:slot", async (c) => {
    const slot = c.req.param("slot");
    if (!isSlot(slot)) return c.json({ error: "Not found" }, 404);
    if (c.req.method !== "POST") return c.json({ error: "Method not allowed" }, 405, { allow: "POST" });
    try {
      const rawBody = await readBody(c.env.incoming, options.maxBodyBytes);
      const { headers } = c.env.incoming;
      const result = await options.intake.receive(slot, {
        rawBody,
        // Node joins repeated headers with ", ": such a signature does not verify.
        header: (name) => headers[name] as string | undefined,
      });
      options.observe?.(slot, result.outcome);
      logOutcome(options, slot, c.get("requestId"), result);
      const { status, body, headers: more } = responseTo(result);
      return answerJson(c, body, status, more);
    } catch (error) {
      return unreadable(c, error);
    }
  });
  return routes;
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
      return {
        status: 503,
        body: { error: "Service unavailable" },
        headers: { "retry-after": RETRY_AFTER_SECONDS },
      };
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

function unreadable(c: Context<HonoEnv>, error: unknown): Response {
  if (error instanceof BodyTooLarge) {
    // Closing at once would reset a client that is still sending, before it reads the 413. The adapter first discards
    // the rest of the body, for at most half a second and 64 MB.
    c.env.outgoing.shouldKeepAlive = true;
    return c.json({ error: "Payload too large" }, 413);
  }
  if (error instanceof BodyAbandoned) {
    return c.json({ error: "Service unavailable" }, 503, { "retry-after": RETRY_AFTER_SECONDS });
  }
  if (error instanceof BodyAborted) return c.json({ error: "Request aborted" }, 400);
  throw error;
}
