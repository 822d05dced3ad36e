import { randomBytes, randomUUID } from "node:crypto";
import { type NextRequest, NextResponse } from "next/server";
import { host } from "./app/gate/host.ts";
import { type PassedRequest, REQUEST_HEADER } from "./app/gate/hosted-request.ts";
import { Refusal } from "./domain/refusals/refusal.ts";
import { limitHeaders } from "./http/limit-headers.ts";
import { notStarted } from "./http/not-started.ts";
import { isCrossOrigin } from "./http/origin-check.ts";
import { refusalForScripts, TYPE_FOR_SCRIPTS } from "./http/refusal-for-scripts.ts";
import { UNAVAILABLE_RETRY_AFTER_SECONDS } from "./http/retry-after.ts";
import { contentSecurityPolicy, pageHeaders } from "./http/security-headers.ts";
import { statusOf } from "./http/status-of.ts";
import { hasTooManyParameters } from "./http/too-many-parameters.ts";
import { shortUserAgent } from "./http/user-agent.ts";
import type { LimitCharge } from "./limits/charge.ts";
import { charge } from "./operations/call.ts";

const METHODS = ["GET", "HEAD", "POST"];
/** As `next.config.mjs` limits server actions. */
const MAX_BODY_BYTES = 64 * 1024;

/**
 * Before every page where Next.js serves without `src/server.ts`: the same refusals, limit and headers as
 * there.
 */
export async function proxy(request: NextRequest): Promise<NextResponse> {
  const started = await host().catch((error: Error) => error);
  if (started instanceof Error) return sendText(503, "Service unavailable", new Headers(notStarted(started)));
  const { appUrl, clientAddress, deps, identify, log, ownOrigins } = started;
  const id = randomUUID();
  const nonce = randomBytes(16).toString("base64");
  const policy = contentSecurityPolicy(nonce, appUrl);
  const headers = new Headers([["x-request-id", id], ...pageHeaders(policy, { appUrl, url: request.url })]);
  const charges: LimitCharge[] = [];
  try {
    const refused = refusalOf(request, ownOrigins);
    if (refused) return sendText(refused.status, refused.text, headers);
    const address = clientAddress(request.headers.get("x-forwarded-for"));
    await charge("pages", deps.limits, { caller: { kind: "anonymous", address }, charges });
    for (const [name, value] of Object.entries(limitHeaders(charges))) headers.set(name, value);
    const { setCookies } = await identify({
      address,
      header: (name) => request.headers.get(name) ?? undefined,
      sessionsOnly: true,
    }).catch(() => ({ setCookies: [] }));
    for (const refreshed of setCookies) headers.append("set-cookie", refreshed);
    return NextResponse.next({ headers, request: { headers: passedOn(request, { id, nonce }, policy) } });
  } catch (error) {
    if (!(error instanceof Refusal)) {
      log.error({ err: error, requestId: id }, "page failed");
      return sendText(500, "Internal server error", headers);
    }
    for (const [name, value] of Object.entries(limitHeaders(charges))) headers.set(name, value);
    const status = statusOf[error.code];
    const forScripts = request.headers.has("next-action") ? refusalForScripts(error) : null;
    if (forScripts === null) return sendText(status, error.message, headers);
    headers.set("content-type", TYPE_FOR_SCRIPTS);
    headers.set("cache-control", "no-store");
    return new NextResponse(forScripts, { status, headers });
  }
}

export const config = { matcher: ["/((?!api(?:/|$)|_next/static/).*)"] };

function refusalOf({ method, headers, url }: NextRequest, ownOrigins: () => readonly string[]) {
  if (!METHODS.includes(method)) return { status: 405, text: "Method not allowed" };
  if (hasTooManyParameters(url)) return { status: 414, text: "Too many parameters" };
  const secFetchSite = headers.get("sec-fetch-site") ?? undefined;
  const origin = headers.get("origin") ?? undefined;
  if (isCrossOrigin({ method, secFetchSite, origin, byCookie: true }, ownOrigins)) {
    return { status: 403, text: "Forbidden" };
  }
  if (Number(headers.get("content-length") ?? 0) > MAX_BODY_BYTES) {
    return { status: 413, text: "Payload too large" };
  }
  return null;
}

/** Next.js reads the nonce from the policy in the request; a client's own values are overwritten. */
function passedOn(request: NextRequest, known: Pick<PassedRequest, "id" | "nonce">, policy: string): Headers {
  const { pathname, search } = request.nextUrl;
  const headers = new Headers(request.headers);
  headers.set("content-security-policy", policy);
  const userAgent = shortUserAgent(headers.get("user-agent"));
  if (userAgent !== undefined) headers.set("user-agent", userAgent);
  headers.set(REQUEST_HEADER, JSON.stringify({ ...known, path: `${pathname}${search}` }));
  return headers;
}

function sendText(status: number, text: string, headers: Headers): NextResponse {
  headers.set("content-type", "text/plain; charset=utf-8");
  headers.set("cache-control", "no-store");
  if (status === 405) headers.set("allow", METHODS.join(", "));
  if (status === 503) headers.set("retry-after", `${UNAVAILABLE_RETRY_AFTER_SECONDS}`);
  return new NextResponse(`${text}\n`, { status, headers });
}
