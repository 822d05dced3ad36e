import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Refusal } from "../../domain/refusals/refusal.ts";
import { limitHeaders } from "../../http/limit-headers.ts";
import { refusalForScripts, TYPE_FOR_SCRIPTS } from "../../http/refusal-for-scripts.ts";
import { UNAVAILABLE_RETRY_AFTER_SECONDS } from "../../http/retry-after.ts";
import { contentSecurityPolicy, pageHeaders } from "../../http/security-headers.ts";
import { statusOf } from "../../http/status-of.ts";
import type { LimitCharge } from "../../limits/charge.ts";
import { errorDocument } from "./error-document.ts";
import { sendText } from "./send-text.ts";

type RefusedRequest = { charges: readonly LimitCharge[]; id: string; project: string; appUrl: string };

/** Responds to a request that was refused before Next.js got it. */
export async function sendRefusal(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  refusal: Refusal,
  { charges, id, project, appUrl }: RefusedRequest,
): Promise<void> {
  const { code, message, params } = refusal;
  for (const [name, value] of Object.entries(limitHeaders(charges))) outgoing.setHeader(name, value);
  const status = statusOf[code];
  if (code === "unavailable") outgoing.setHeader("retry-after", UNAVAILABLE_RETRY_AFTER_SECONDS);
  const { retryAfterSeconds } = params;
  if (typeof retryAfterSeconds !== "number") return sendText(outgoing, status, message);
  outgoing.statusCode = status;
  outgoing.setHeader("cache-control", "no-store");
  if ("next-action" in incoming.headers) {
    outgoing.setHeader("content-type", TYPE_FOR_SCRIPTS);
    outgoing.end(refusalForScripts(refusal));
    return;
  }
  if (!incoming.headers.accept?.includes("text/html")) return sendText(outgoing, status, message);
  const nonce = randomBytes(16).toString("base64");
  const policy = contentSecurityPolicy(nonce, appUrl);
  for (const [name, value] of pageHeaders(policy, { appUrl, url: incoming.url ?? "" }))
    outgoing.setHeader(name, value);
  outgoing.setHeader("content-type", "text/html; charset=utf-8");
  outgoing.end(
    await errorDocument(incoming, outgoing, { id, nonce, cause: "limited", retryAfterSeconds, project }),
  );
}
