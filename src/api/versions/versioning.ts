import type { Context, MiddlewareHandler } from "hono";
import type { VersionCatalog } from "../../domain/api-version.ts";
import { addHeaders } from "../../http/add-headers.ts";
import { answerRefusal } from "../../http/error-response.ts";
import { headersApplied, responseHeaders } from "../../http/response-headers.ts";
import {
  type DeprecationFormat,
  headersByVersion,
  successorLink,
  type VersionHeaders,
} from "./version-headers.ts";
import { isMalformed, readTarget, type Target } from "./version-path.ts";

export type Versioning = {
  catalog: VersionCatalog;
  /** The public origin, without a slash at the end. */
  appUrl: string;
  format: DeprecationFormat;
};

/** The version that was asked for, in `c.get("apiVersion")`. */
export type Versioned = { Variables: { apiVersion: string } };

/**
 * Which version of the API a request is for: that of its path (then its header is not looked at), else that of
 * `X-API-Version`, else the current one; and what the answer says of it. The app routes by `versionedPath`.
 */
export function versioning({ catalog, appUrl, format }: Versioning): MiddlewareHandler<Versioned> {
  const headersOf = headersByVersion(catalog, appUrl, format);

  return async (c, next) => {
    const target = readTarget(c.req.raw.url);
    const name = target.version ?? c.req.raw.headers.get("x-api-version") ?? catalog.current;
    const said = isMalformed(c.req.path) ? undefined : headersOf.get(name);
    if (said === undefined) return refuseVersion(c, target, catalog);
    c.set("apiVersion", name);
    const saying = sayings(said, target);
    const head = responseHeaders(c);
    for (const [header, value] of saying) head[header] = value;
    await next();
    // Afterwards, or a handler that sets a Link or a Vary of its own would overwrite ours.
    if (!headersApplied(c)) addHeaders(c, (headers) => say(headers, saying));
    return c.res;
  };
}

/** There is no version to answer in: the current one's form is used. */
function refuseVersion(c: Context, { version }: Target, { current, supported }: VersionCatalog): Response {
  const headers = { "x-api-version": current };
  if (isMalformed(c.req.path) || version !== null) {
    return answerRefusal(
      c,
      { reason: "unknown_version", params: { supported: [...supported] } },
      { headers },
    );
  }
  return answerRefusal(
    c,
    {
      reason: "invalid_input",
      params: { problem: "not_one_of", values: [...supported] },
      field: "X-API-Version",
    },
    { headers: { ...headers, vary: "X-API-Version" } },
  );
}

function sayings(said: VersionHeaders, { version, rest }: Target): [string, string][] {
  const all = [...said.fixed] as [string, string][];
  if (said.successorBase !== null && rest !== null) {
    all.push(["link", successorLink(said.successorBase, rest)]);
  }
  if (version === null) all.push(["vary", "X-API-Version"]);
  return all;
}

function say(headers: Headers, saying: [string, string][]): void {
  for (const [name, value] of saying) {
    if (name === "link" || name === "vary") headers.append(name, value);
    else headers.set(name, value);
  }
}
