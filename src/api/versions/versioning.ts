import type { Context, MiddlewareHandler } from "hono";
import type { VersionCatalog, VersionChoice } from "../../domain/api-version.ts";
import { Refusal, type RefusalFacts } from "../../domain/refusals/refusal.ts";
import { addHeaders } from "../../http/add-headers.ts";
import { answerRefusal } from "../../http/error-response.ts";
import { headersApplied, responseHeaders } from "../../http/response-headers.ts";
import { surfaceErrorResponse } from "../surface-error.ts";
import {
  type DeprecationFormat,
  fixedHeadersOf,
  headersByVersion,
  successorLink,
  type VersionHeaders,
} from "./version-headers.ts";
import { isMalformed, type RequestTarget, readTarget } from "./version-path.ts";

export type Versioning = {
  catalog: VersionCatalog;
  /** The public origin, without a trailing slash. */
  appUrl: string;
  format: DeprecationFormat;
};

/** The resolved version, in `c.get("apiVersion")`. */
export type Versioned = { Variables: { apiVersion: string; versionChosenBy: VersionChoice } };

/**
 * Resolves the API version of a request: from its path (then the header is ignored), else from
 * `X-API-Version`, else the current one; and sets the version headers of the response. The app routes by
 * `versionedPath`.
 * @param isAllowedPreflight whether a request is a preflight that is answered
 */
export function versioning(
  { catalog, appUrl, format }: Versioning,
  isAllowedPreflight: (c: Context) => boolean = () => false,
): MiddlewareHandler<Versioned> {
  const headersOf = headersByVersion(catalog, appUrl, format);
  const current = headersOf.get(catalog.current) as VersionHeaders;

  return async (c, next) => {
    const target = readTarget(c.req.raw.url);
    const header = c.req.raw.headers.get("x-api-version");
    const name = target.version ?? header ?? catalog.current;
    const version = headersOf.get(name);
    c.set("apiVersion", version === undefined ? catalog.current : name);
    // If the preflight were refused, the page could not read why the request is.
    const isUnreadable = isMalformed(c.req.path);
    if ((version === undefined || isUnreadable) && !isAllowedPreflight(c))
      return refuseVersion(c, target, { catalog, appUrl, format });
    c.set("versionChosenBy", target.version !== null ? "path" : header !== null ? "header" : "default");
    const headers = headersFor(
      version ?? current,
      version && !isUnreadable ? target : { ...target, rest: null },
    );
    const head = responseHeaders(c);
    for (const [header, value] of headers)
      head[header] = header === "vary" && head.vary !== undefined ? `${head.vary}, ${value}` : value;
    await next();
    // After the handler, which may set its own Link or Vary.
    if (!headersApplied(c)) addHeaders(c, (existing) => mergeHeaders(existing, headers));
    return c.res;
  };
}

/** The version headers of every response to a fixed target. @param name a supported version */
export function versionHeadersOf(
  { catalog, appUrl, format }: Versioning,
  name: string,
  target: RequestTarget,
): [string, string][] {
  const version = headersByVersion(catalog, appUrl, format).get(name);
  return version === undefined ? [] : headersFor(version, target);
}

/** In the version that the request chose, and in the current one if it chose none that there is. */
function refuseVersion(
  c: Context<Versioned>,
  target: RequestTarget,
  { catalog, format }: Versioning,
): Promise<Response> {
  const headers = Object.fromEntries(fixedHeadersOf(c.get("apiVersion"), catalog, format));
  if (target.version === null) headers.vary = "X-API-Version";
  const isInPath = isMalformed(c.req.path) || target.version !== null;
  const refusal = new Refusal(isInPath ? unknownInPath(catalog) : unknownInHeader(catalog));
  return surfaceErrorResponse(c, refusal, answerRefusal(c, refusal, { headers }));
}

function unknownInPath({ supported }: VersionCatalog): RefusalFacts {
  return { reason: "unknown_version", params: { supported: [...supported] } };
}

function unknownInHeader({ supported }: VersionCatalog): RefusalFacts {
  return {
    reason: "invalid_input",
    params: { problem: "not_one_of", values: [...supported] },
    field: "X-API-Version",
  };
}

function headersFor(
  { fixed, successorBase }: VersionHeaders,
  { version, rest }: RequestTarget,
): [string, string][] {
  const headers = [...fixed] as [string, string][];
  if (successorBase !== null && rest !== null) {
    headers.push(["link", successorLink(successorBase, rest)]);
  }
  if (version === null) headers.push(["vary", "X-API-Version"]);
  return headers;
}

function mergeHeaders(existing: Headers, headers: [string, string][]): void {
  for (const [name, value] of headers) {
    if (name === "link" || name === "vary") existing.append(name, value);
    else existing.set(name, value);
  }
}
