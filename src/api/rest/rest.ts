import { Hono } from "hono";
import { refuse } from "../../domain/refusals/refusal.ts";
import { answerWithEtag } from "../../http/etag.ts";
import type { HonoEnv } from "../../http/hono-env.ts";
import { isDecodable } from "../../http/is-decodable.ts";
import { limitHeaders } from "../../http/limit-headers.ts";
import { readJson } from "../../http/read-json.ts";
import { answerJson } from "../../http/response-headers.ts";
import type { Dependencies } from "../../operations/dependencies.ts";
import { execute } from "../../operations/operation.ts";
import type { Page } from "../../operations/page.ts";
import { authenticate, type CallerContext } from "../authenticate.ts";
import { toVersion } from "../versions/list-shape.ts";
import { inputReader } from "./input.ts";
import type { Route } from "./route.ts";

/** Serves operations as REST routes; only translates. */
export function rest(routes: readonly Route[], deps: Dependencies, callers: CallerContext): Hono<HonoEnv> {
  const api = new Hono<HonoEnv>();
  for (const route of routes) {
    const readInput = inputReader(route);
    api.on(route.method, route.path, async (c) => {
      c.set("isRest", true);
      const call = await authenticate(c, callers);
      const output = await execute(route.operation, deps, call, () => {
        // Hono keeps what it cannot decode: "%ff" would be three characters of an id.
        if (!isDecodable(c.req.url))
          refuse({ reason: "invalid_input", params: { problem: "malformed", format: "url_encoding" } });
        return readInput({
          params: c.req.param() as Record<string, string>,
          queries: c.req.queries(),
          readBody: () => readJson(c.env.incoming),
        });
      });
      const body =
        route.plural === null
          ? output
          : toVersion(c.get("apiVersion"), { plural: route.plural, ...(output as Page<unknown>) });
      const headers = limitHeaders(call.charges);
      if (route.etag) return answerWithEtag(c, body, headers);
      return answerJson(c, body, route.status, headers);
    });
  }
  return api;
}
