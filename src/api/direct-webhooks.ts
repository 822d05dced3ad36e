import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { VersionCatalog } from "../domain/api-version.ts";
import { SLOTS, type Slot } from "../domain/slot.ts";
import { apiHeaderList } from "../http/security-headers.ts";
import { countHosts } from "../http/unroutable.ts";
import type { MetricsOptions } from "./metrics.ts";
import { receiveDelivery, type WebhookOptions, type WebhookResponse } from "./receive-delivery.ts";
import type { DeprecationFormat } from "./versions/version-headers.ts";
import { versionHeadersOf } from "./versions/versioning.ts";

export type DirectWebhookOptions = {
  webhooks: WebhookOptions;
  versions: VersionCatalog;
  deprecationFormat: DeprecationFormat;
  /** The public origin, without a trailing slash. */
  appUrl: string;
  /** See `MetricsOptions`; `null`: metrics are disabled. */
  requested: NonNullable<MetricsOptions["metrics"]>["requested"] | null;
};

/** A plain name or IPv4 address; @hono/node-server examines all others. */
const PLAIN_HOST = /^[a-z0-9._-]+(?::[1-9]\d{1,4})?$/;
const CONTENT_LENGTH = /^\d{1,15}$/;

/**
 * Serves an ordinary webhook without router and middleware, which cost more than the rest of its handling.
 * Returns false for any other request: the app answers it, and both give the same response.
 */
export function directWebhooks(
  options: DirectWebhookOptions,
): (incoming: IncomingMessage, outgoing: ServerResponse) => boolean {
  const targets = targetsOf(options);
  const { maxBodyBytes } = options.webhooks;
  return (incoming, outgoing) => {
    const target = incoming.method === "POST" ? targets.get(incoming.url ?? "") : undefined;
    if (target === undefined || !isOrdinary(incoming, maxBodyBytes)) return false;
    const { version } = target;
    if (version === null && incoming.headers["x-api-version"] !== undefined) return false;
    if (version !== null) options.requested?.(version, "path");
    void receiveAndRespond(options.webhooks, target, incoming, outgoing);
    return true;
  };
}

type DirectTarget = {
  slot: Slot;
  /** In the path; `null`: none. */
  version: string | null;
  /** Names and values in turn. */
  headers: readonly string[];
};

function targetsOf({ versions, appUrl, deprecationFormat: format }: DirectWebhookOptions) {
  const targets = new Map<string, DirectTarget>();
  for (const slot of SLOTS) {
    const rest = `webhooks/${slot}`;
    for (const version of [null, ...versions.supported]) {
      const versionHeaders = versionHeadersOf(
        { catalog: versions, appUrl, format },
        version ?? versions.current,
        { version, rest },
      );
      targets.set(version === null ? `/api/${rest}` : `/api/${version}/${rest}`, {
        slot,
        version,
        headers: [...apiHeaderList(appUrl), ...versionHeaders].flat(),
      });
    }
  }
  return targets;
}

/** Whether its body has an announced and allowed length, and its `Host` is certainly valid. */
function isOrdinary({ headers, rawHeaders }: IncomingMessage, maxBodyBytes: number): boolean {
  const length = headers["content-length"] ?? "";
  return (
    CONTENT_LENGTH.test(length) &&
    Number(length) <= maxBodyBytes &&
    headers["transfer-encoding"] === undefined &&
    PLAIN_HOST.test(headers.host ?? "") &&
    countHosts(rawHeaders) === 1
  );
}

async function receiveAndRespond(
  webhooks: WebhookOptions,
  { slot, headers }: DirectTarget,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const requestId = randomUUID();
  const response = await receiveDelivery(webhooks, slot, incoming, requestId).catch(
    (error: unknown): WebhookResponse => {
      webhooks.log.error({ err: error, requestId, path: incoming.url }, "request failed");
      return { status: 500, body: { error: "Processing failed" } };
    },
  );
  const text = JSON.stringify(response.body);
  const headerPairs = [
    "x-request-id",
    requestId,
    ...headers,
    "content-type",
    "application/json",
    "content-length",
    String(Buffer.byteLength(text)),
  ];
  for (const [name, value] of Object.entries(response.headers ?? {})) headerPairs.push(name, value);
  outgoing.writeHead(response.status, headerPairs);
  outgoing.end(text);
}
