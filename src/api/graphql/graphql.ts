import { type Context, Hono } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { loadOnce } from "../../domain/load-once.ts";
import { refuse } from "../../domain/refusals/refusal.ts";
import { answerError } from "../../http/error-response.ts";
import type { HonoEnv } from "../../http/hono-env.ts";
import { addLimitHeaders, limitHeaders } from "../../http/limit-headers.ts";
import { answerText } from "../../http/response-headers.ts";
import type { ThrottledLog } from "../../observability/limit-repeats.ts";
import { charge, readInputOf } from "../../operations/call.ts";
import type { Dependencies } from "../../operations/dependencies.ts";
import { authenticate, type CallerContext } from "../authenticate.ts";
import { contentType, mediaType, shownError } from "../graphql-error.ts";
import { graphiql } from "./graphiql.ts";
import { fromBody, fromQueryString, type Parameters, type PersistedQuery } from "./parameters.ts";

export type GraphqlOptions = {
  /** `false`: the endpoint does not exist. */
  enabled: boolean;
  /** Whether introspection is allowed and GraphiQL is served to browsers. */
  introspection: boolean;
  log: ThrottledLog;
};

/**
 * `/api/graphql`, by the GraphQL over HTTP specification. A request costs one `graphql` before its body is
 * read; each field is charged to its operation's scope. A request refused as a whole has REST's status; one
 * that ran has 200.
 */
export function graphql(
  deps: Dependencies,
  callers: CallerContext,
  { enabled, introspection, log }: GraphqlOptions,
): Hono<HonoEnv> {
  const routes = new Hono<HonoEnv>();
  if (!enabled) return routes;

  // Large packages, so they are loaded on demand.
  const loaded = loadOnce(async () => (await import("./yoga.ts")).createServer({ introspection }));
  const logFailure = (c: Context<HonoEnv>) => (err: unknown) =>
    log.error({ err, requestId: c.get("requestId"), path: c.req.path }, "request failed");

  const respond = async (c: Context<HonoEnv>, read: () => ParsedRequest | Promise<ParsedRequest>) => {
    const call = await authenticate(c, callers);
    await charge("graphql", deps.limits, call);
    const params = await readInputOf(call, read);
    if (params === "persisted query")
      return answerText(c, PERSISTED_QUERY_NOT_SUPPORTED, 200, {
        "content-type": contentType(c),
        ...limitHeaders(call.charges),
      });
    const method = c.req.method === "POST" ? "POST" : "GET";
    const response = await (await loaded())({
      deps,
      call,
      method,
      params,
      accept: mediaType(c),
      logFailure: logFailure(c),
    });
    const headers = limitHeaders(call.charges);
    for (const name of PASSED_ON) {
      const value = response.headers.get(name);
      if (value !== null) headers[name] = value;
    }
    return answerText(c, await response.text(), response.status as ContentfulStatusCode, headers);
  };

  if (introspection) routes.get("/", graphiql());
  routes.get("/", (c) => respond(c, () => fromQueryString(c)));
  routes.post("/", (c) => respond(c, () => fromBody(c.env.incoming)));

  routes.all("/", (c) => {
    c.header("allow", "GET, HEAD, POST");
    return refuse({ reason: "method_not_allowed" });
  });

  routes.onError((error, c) => {
    addLimitHeaders(c, c.get("charges") ?? []);
    const refused = answerError(c, error, logFailure(c));
    const body = JSON.stringify({ errors: [shownError(error)] });
    c.header("content-type", contentType(c));
    return c.body(body, refused.status as ContentfulStatusCode);
  });
  return routes;
}

type ParsedRequest = Parameters | PersistedQuery;

const PERSISTED_QUERY_NOT_SUPPORTED = JSON.stringify({
  errors: [
    {
      message: "PersistedQueryNotSupported",
      extensions: {
        code: "PERSISTED_QUERY_NOT_SUPPORTED",
        reason: "invalid_input",
        params: { problem: "invalid" },
      },
    },
  ],
});

const PASSED_ON = ["content-type", "allow"];
