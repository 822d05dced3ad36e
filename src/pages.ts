import { randomBytes, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { isForeignWrite } from "./api/door/own-origin.ts";
import type { Auth } from "./auth/auth.ts";
import type { Person } from "./domain/caller.ts";
import type { Log } from "./log.ts";
import type { Dependencies } from "./operations/dependencies.ts";
import type { PageAccounts, PageRequest } from "./page-request.ts";
import { pageRequests } from "./page-request.ts";

/** Actions are posted; everything else is looked at. */
const METHODS = ["GET", "HEAD", "POST"];

const PROJECT = resolve(import.meta.dirname, "..");

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

// Not imported: its types would declare browsers' globals for the whole server.
const load = createRequire(import.meta.url) as (name: "next") => (options: object) => NextApp;

type NextApp = { prepare(): Promise<void>; getRequestHandler(): NextHandler; close(): Promise<void> };

type NextHandler = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;

/** Everything that is not below `/api`: the pages, by Next.js, which is loaded when the first one is asked for. */
export function createPages(options: PagesOptions): Pages {
  let loading: Promise<{ handle: NextHandler; close(): Promise<void> }> | null = null;
  const next = () => {
    loading ??= loadNext();
    // Tried again by the next request: the pages may be built by then.
    loading.catch(() => {
      loading = null;
    });
    return loading;
  };
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
        const { handle } = await next();
        if (incoming.url?.startsWith("/_next/")) return await handle(incoming, outgoing);
        const request = await open(incoming, outgoing, requestId, options);
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

class NotBuilt extends Error {
  override message = "The pages have not been built: start with script/server, or run npm run build.";
}

async function loadNext() {
  if (!existsSync(join(PROJECT, ".next/BUILD_ID"))) throw new NotBuilt();
  const app = load("next")({ dev: false, dir: PROJECT, quiet: true });
  await app.prepare();
  return { handle: app.getRequestHandler(), close: () => app.close() };
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

async function open(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  id: string,
  { auth, deps, clientAddress, ownOrigins, appUrl, log }: PagesOptions,
): Promise<PageRequest> {
  const { headers } = incoming;
  const address = clientAddress(
    incoming.socket.remoteAddress,
    headers["x-forwarded-for"] as string | undefined,
  );
  const nonce = randomBytes(16).toString("base64");
  const policy = contentSecurityPolicy(nonce, appUrl);
  // Next.js reads the nonce from the request, where only we may have put it.
  headers["content-security-policy"] = policy;
  const { host, protocol } = new URL(ownOrigin(headers, ownOrigins(), appUrl));
  // Next.js compares the origin, checked above, with it, and asks there for the page that an action leads to: nowhere but here.
  headers["x-forwarded-host"] = host;
  headers["x-forwarded-proto"] = protocol.slice(0, -1);
  for (const [name, value] of securityHeaders(policy, appUrl)) outgoing.setHeader(name, value);

  const identified = await auth
    // People sign in to pages; keys are for programs.
    .identify({ address, header: (name) => (name === "cookie" ? headers.cookie : undefined) })
    .catch((error: unknown) => ({ error }));
  if ("setCookies" in identified && identified.setCookies.length > 0) {
    outgoing.setHeader("set-cookie", [...identified.setCookies]);
  }
  return {
    id,
    path: incoming.url ?? "/",
    person: async () => {
      if ("error" in identified) throw identified.error;
      return identified.caller.kind === "session" ? (identified.caller as Person) : null;
    },
    address,
    nonce,
    header: (name) => headers[name] as string | undefined,
    deps,
    accounts: auth,
    appUrl,
    log,
  };
}

/** By which of its names we were asked for, as far as that can be believed. */
function ownOrigin(headers: IncomingHttpHeaders, origins: readonly string[], appUrl: string): string {
  return (
    origins.find((one) => one === headers.origin) ??
    origins.find((one) => new URL(one).host === headers.host) ??
    appUrl
  );
}

/** Scripts and styles of ours alone, and no page of ours in somebody else's frame. */
function contentSecurityPolicy(nonce: string, appUrl: string): string {
  return [
    "default-src 'self'",
    `script-src 'self' 'nonce-${nonce}' 'strict-dynamic'`,
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    ...(appUrl.startsWith("https://") ? ["upgrade-insecure-requests"] : []),
  ].join("; ");
}

function securityHeaders(policy: string, appUrl: string): [string, string][] {
  return [
    ["content-security-policy", policy],
    ["x-content-type-options", "nosniff"],
    // Not "no-referrer": browsers would send "Origin: null" with a page's own forms.
    ["referrer-policy", "same-origin"],
    ["cross-origin-opener-policy", "same-origin"],
    ["permissions-policy", "camera=(), microphone=(), geolocation=(), payment=()"],
    ["cache-control", "no-store"],
    ...(appUrl.startsWith("https://")
      ? ([["strict-transport-security", "max-age=31536000"]] as [string, string][])
      : []),
  ];
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
