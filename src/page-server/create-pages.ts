import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { resolve } from "node:path";
import { getRequestListener } from "@hono/node-server";
import { isForeignWrite } from "../api/door/own-origin.ts";
import type { Auth } from "../auth/auth.ts";
import type { Log } from "../log.ts";
import type { Dependencies } from "../operations/dependencies.ts";
import { type PageAccounts, pageRequests } from "../page-request.ts";
import { builtFiles } from "./built-files.ts";
import { loadNext, NotBuilt } from "./load-next.ts";
import { openRequest } from "./open-request.ts";

export type PagesOptions = {
  auth: Auth & PageAccounts;
  deps: Dependencies;
  clientAddress(socketAddress: string | undefined, forwardedFor: string | undefined): string;
  /** Of pages that may write with a person's cookie. */
  ownOrigins(): readonly string[];
  appUrl: string;
  log: Log;
};

export type Pages = {
  answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void>;
  close(): Promise<void>;
};

/** Actions are posted; everything else is looked at. */
const METHODS = ["GET", "HEAD", "POST"];

const PROJECT = resolve(import.meta.dirname, "../..");

/** Everything that is not below `/api`: the pages, by Next.js, which is loaded when the first one is asked for. */
export function createPages(options: PagesOptions): Pages {
  let loading: ReturnType<typeof loadNext> | null = null;
  const next = ({ socket }: IncomingMessage) => {
    loading ??= loadNext(PROJECT, {
      hostname: socket.localAddress ?? "127.0.0.1",
      port: socket.localPort ?? 3000,
    });
    // Tried again by the next request: the pages may be built by then.
    loading.catch(() => {
      loading = null;
    });
    return loading;
  };
  const toFiles = getRequestListener(builtFiles(PROJECT).fetch, { hostname: "localhost" });
  return {
    answer: async (incoming, outgoing) => {
      const requestId = randomUUID();
      outgoing.setHeader("x-request-id", requestId);
      try {
        if (!METHODS.includes(incoming.method ?? "")) {
          outgoing.setHeader("allow", METHODS.join(", "));
          return say(outgoing, 405, "Method not allowed");
        }
        if (isForeign(incoming, options)) return say(outgoing, 403, "Forbidden");
        if (incoming.url?.startsWith("/_next/static/")) return await toFiles(incoming, outgoing);
        const { handle } = await next(incoming);
        const request = await openRequest(incoming, outgoing, requestId, options);
        await pageRequests().run(request, () => handle(incoming, outgoing));
      } catch (error) {
        options.log.error({ err: error, requestId }, "a page could not be served");
        say(outgoing, 500, error instanceof NotBuilt ? error.message : "Internal server error");
      }
    },
    close: async () => {
      await (await loading?.catch(() => null))?.close();
    },
  };
}

function isForeign({ method = "", headers }: IncomingMessage, { ownOrigins }: PagesOptions): boolean {
  return isForeignWrite(
    {
      method,
      secFetchSite: headers["sec-fetch-site"] as string | undefined,
      origin: headers.origin,
      byCookie: true,
    },
    ownOrigins,
  );
}

function say(outgoing: ServerResponse, status: number, sentence: string): void {
  if (outgoing.headersSent) {
    outgoing.destroy();
    return;
  }
  outgoing.statusCode = status;
  outgoing.setHeader("content-type", "text/plain; charset=utf-8");
  outgoing.setHeader("cache-control", "no-store");
  outgoing.end(`${sentence}\n`);
}
