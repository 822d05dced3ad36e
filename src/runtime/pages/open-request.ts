import { randomBytes } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { PageRequest } from "../../app/gate/page-request.ts";
import type { Person } from "../../domain/callers/caller.ts";
import { limitHeaders } from "../../http/limit-headers.ts";
import { contentSecurityPolicy, pageHeaders } from "../../http/security-headers.ts";
import { shortUserAgent } from "../../http/user-agent.ts";
import type { LimitCharge } from "../../limits/charge.ts";
import { isLate } from "../../operations/call.ts";
import { type ErrorDocumentCause, errorDocument } from "./error-document.ts";
import { errorStatus } from "./error-status.ts";
import { markAsOwn } from "./own-request.ts";
import type { PagesOptions } from "./pages-options.ts";
import { replaceErrorDocument } from "./replace-error-document.ts";

type OpenedRequest = {
  id: string;
  address: string;
  charges: readonly LimitCharge[];
  /** The folder with the built pages. */
  project: string;
};

/** The caller of a page, and the response headers that are known before it is rendered. */
export async function openRequest(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { id, address, charges: ownCharges, project }: OpenedRequest,
  { auth, deps, ownOrigins, appUrl, mails, log }: PagesOptions,
): Promise<PageRequest> {
  const { headers } = incoming;
  const nonce = randomBytes(16).toString("base64");
  const policy = contentSecurityPolicy(nonce, appUrl);
  // Next.js reads the nonce from the request: a value sent by the client must be replaced.
  headers["content-security-policy"] = policy;
  // Next.js compares the origin, checked above, with this header.
  headers["x-forwarded-host"] = new URL(ownOrigin(headers, ownOrigins(), appUrl)).host;
  // Next.js fetches the page that an action redirects to from this server, over plain HTTP.
  headers["x-forwarded-proto"] = "http";
  const userAgent = shortUserAgent(headers["user-agent"]);
  if (userAgent !== undefined) headers["user-agent"] = userAgent;
  markAsOwn(incoming, address);
  for (const [name, value] of pageHeaders(policy, { appUrl, url: incoming.url ?? "" }))
    outgoing.setHeader(name, value);

  const identify = () =>
    auth
      // Pages are for sessions; API keys are for programs.
      .identify({ address, header: (name) => headers[name] as string | undefined, sessionsOnly: true })
      .catch((error: unknown) => ({ error }));
  const identified = await identify();
  const identifiedAtMs = performance.now();
  if ("setCookies" in identified && identified.setCookies.length > 0) {
    outgoing.setHeader("set-cookie", [...identified.setCookies]);
  }
  let current: ReturnType<typeof identify> | undefined;
  // A client can hold the body of an action back until after its session was revoked. Only once: an action may
  // replace the session, and this request has the old cookie.
  const identifiedNow = () => {
    current ??= isLate(identifiedAtMs) ? identify() : Promise.resolve(identified);
    return current;
  };
  const latest = new Map<string, LimitCharge>();
  const addCharges = (charges: readonly LimitCharge[]) => {
    for (const charge of charges) latest.set(charge.scope, charge);
    if (outgoing.headersSent) return;
    for (const [name, value] of Object.entries(limitHeaders([...latest.values()])))
      outgoing.setHeader(name, value);
  };
  addCharges(ownCharges);
  const document = (cause: ErrorDocumentCause) =>
    errorDocument(incoming, outgoing, { id, nonce, cause, project });
  return {
    id,
    path: incoming.url ?? "/",
    person: async () => {
      const sender = await identifiedNow();
      if ("error" in sender) throw sender.error;
      return sender.caller.kind === "session" ? (sender.caller as Person) : null;
    },
    address,
    nonce,
    header: (name) => headers[name] as string | undefined,
    charged: addCharges,
    ...errorStatus(incoming, outgoing, replaceErrorDocument(outgoing, document)),
    deps,
    accounts: auth,
    appUrl,
    mails,
    log,
  };
}

/** The one of our origins that the request was sent to, according to its headers. */
function ownOrigin(headers: IncomingHttpHeaders, origins: readonly string[], appUrl: string): string {
  return (
    origins.find((origin) => origin === headers.origin) ??
    origins.find((origin) => new URL(origin).host === headers.host) ??
    appUrl
  );
}
