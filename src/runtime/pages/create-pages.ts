import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { resolve } from "node:path";
import { getRequestListener } from "@hono/node-server";
import { pageRequests } from "../../app/gate/page-request.ts";
import { Refusal } from "../../domain/refusals/refusal.ts";
import { isDecodable } from "../../http/is-decodable.ts";
import { isCrossOrigin } from "../../http/origin-check.ts";
import { countBody } from "../../http/read-body.ts";
import { NO_CONTENT_POLICY, pageHeaders } from "../../http/security-headers.ts";
import { hasTooManyParameters } from "../../http/too-many-parameters.ts";
import type { LimitCharge } from "../../limits/charge.ts";
import { builtFiles } from "./built-files.ts";
import { chargePage } from "./charge-page.ts";
import { loadNext } from "./load-next.ts";
import { openRequest } from "./open-request.ts";
import { addressOfOwn } from "./own-request.ts";
import { pageRoutes } from "./page-route.ts";
import type { PagesOptions } from "./pages-options.ts";
import { sendRefusal } from "./send-refusal.ts";
import { sendText } from "./send-text.ts";

export type Pages = {
  answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void>;
  close(): Promise<void>;
};

/** Server actions use POST; everything else is read. */
const METHODS = ["GET", "HEAD", "POST"];

/** The limit of Next.js too, for bodies without a `Content-Length`: see next.config.mjs. */
const MAX_BODY_BYTES = 64 * 1024;

const PROJECT = resolve(import.meta.dirname, "../../..");

/**
 * Hosts the pages: everything outside `/api`. Next.js is loaded by the first request for one.
 * @param project the folder with the built pages
 */
export function createPages(options: PagesOptions, project = PROJECT): Pages {
  let loading: ReturnType<typeof loadNext> | null = null;
  const next = ({ socket }: IncomingMessage) => {
    loading ??= loadNext(project, {
      hostname: socket.localAddress ?? "127.0.0.1",
      port: socket.localPort ?? 3000,
    });
    // The next request tries again: the pages may have been built by then.
    loading.catch(() => {
      loading = null;
    });
    return loading;
  };
  const { tracing } = options.deps;
  const routeOf = pageRoutes(project);
  const toFiles = getRequestListener(builtFiles(project).fetch, { hostname: "localhost" });
  return {
    answer: async (incoming, outgoing) => {
      // Before anything is awaited, as its first part may have arrived with the head.
      if (incoming.method === "POST") countBody(incoming);
      const route = tracing ? await routeOf(incoming.url ?? "") : null;
      if (route !== null) tracing?.setRoute(route);
      const requestId = randomUUID();
      const charges: LimitCharge[] = [];
      outgoing.setHeader("x-request-id", requestId);
      const { appUrl } = options;
      for (const [name, value] of pageHeaders(NO_CONTENT_POLICY, { appUrl, url: incoming.url ?? "" }))
        outgoing.setHeader(name, value);
      try {
        if (!METHODS.includes(incoming.method ?? "")) {
          outgoing.setHeader("allow", METHODS.join(", "));
          return sendText(outgoing, 405, "Method not allowed");
        }
        // Next.js would respond with 500.
        if (!isDecodable(pathOf(incoming))) return sendText(outgoing, 400, "Bad request");
        if (hasTooManyParameters(incoming.url ?? "")) return sendText(outgoing, 414, "Too many parameters");
        if (isForbiddenWrite(incoming, options)) return sendText(outgoing, 403, "Forbidden");
        if (Number(incoming.headers["content-length"] ?? 0) > MAX_BODY_BYTES) {
          return sendText(outgoing, 413, "Payload too large");
        }
        if (incoming.url?.startsWith("/_next/static/")) return await toFiles(incoming, outgoing);
        const address =
          addressOfOwn(incoming) ??
          options.clientAddress(
            incoming.socket.remoteAddress,
            incoming.headers["x-forwarded-for"] as string | undefined,
          );
        await chargePage(incoming, { limits: options.deps.limits, address, charges });
        const { handle } = await next(incoming);
        const request = await openRequest(
          incoming,
          outgoing,
          { id: requestId, address, charges, project },
          options,
        );
        await pageRequests().run(request, () => handle(incoming, outgoing));
      } catch (error) {
        if (error instanceof Refusal)
          return sendRefusal(incoming, outgoing, error, { charges, id: requestId, project, appUrl });
        options.log.error({ err: error, requestId }, "page failed");
        sendText(outgoing, 500, "Internal server error");
      }
    },
    close: async () => {
      await (await loading?.catch(() => null))?.close();
    },
  };
}

function pathOf({ url = "" }: IncomingMessage): string {
  return url.split("?", 1)[0] as string;
}

function isForbiddenWrite({ method = "", headers }: IncomingMessage, { ownOrigins }: PagesOptions): boolean {
  return isCrossOrigin(
    {
      method,
      secFetchSite: headers["sec-fetch-site"] as string | undefined,
      origin: headers.origin,
      byCookie: true,
    },
    ownOrigins,
  );
}
