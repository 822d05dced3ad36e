import { TRPCError } from "@trpc/server";
import { resolveResponse } from "@trpc/server/http";
import { type Context, Hono } from "hono";
import { Refusal, refuse } from "../../domain/refusals/refusal.ts";
import type { HonoEnv } from "../../http/hono-env.ts";
import type { ThrottledLog } from "../../observability/limit-repeats.ts";
import { type Call, charge } from "../../operations/call.ts";
import type { Dependencies } from "../../operations/dependencies.ts";
import { authenticate, type CallerContext } from "../authenticate.ts";
import { finished, refusalOf } from "./answer.ts";
import { answerQuery, readSingleQuery } from "./answer-query.ts";
import { isDefect } from "./errors.ts";
import { assertJson, countCalls, inspectInput, procedurePath, requestOf } from "./request.ts";
import { appRouter } from "./router.ts";

const MAX_CALLS = 10;

/**
 * tRPC at `/api/trpc`. A request is charged to `rpc` per call before any runs, and each call to its
 * operation's scope. A streamed response starts once all charges are known.
 */
export function rpc(deps: Dependencies, callers: CallerContext, log: ThrottledLog): Hono<HonoEnv> {
  // A batch larger than the limit could never be admitted.
  const maxBatchSize = Math.min(MAX_CALLS, deps.limits.policies.rpc.limit);

  function assertReadable(c: Context<HonoEnv>): void {
    assertJson(c);
    if (countCalls(c) > maxBatchSize) refuse({ reason: "batch_too_large", params: { max: maxBatchSize } });
  }

  async function open(c: Context<HonoEnv>, calls: number): Promise<Call> {
    const call = await authenticate(c, callers);
    await charge("rpc", deps.limits, call, calls);
    return call;
  }

  function logDefect(c: Context<HonoEnv>, error: TRPCError): void {
    if (!isDefect(error)) return;
    const fields = { err: error.cause ?? error, requestId: c.get("requestId"), path: c.req.path };
    log.error(fields, "request failed");
  }

  const routes = new Hono<HonoEnv>();
  routes.on(["GET", "POST"], "/*", async (c) => {
    const query = readSingleQuery(c);
    if (query !== null) {
      const call = await open(c, 1).catch((error) => asRpcError(error));
      if (!(call instanceof TRPCError))
        return answerQuery(c, query, { deps, call }, (error) => logDefect(c, error));
      logDefect(c, call);
      return finished(c, refusalOf(call));
    }
    try {
      assertReadable(c);
    } catch (error) {
      return finished(c, refusalOf(asRpcError(error)));
    }
    const charging: Promise<void>[] = [];
    let refused: TRPCError | undefined;
    const response = await resolveResponse({
      router: appRouter,
      req: requestOf(c),
      path: procedurePath(c),
      error: null,
      allowMethodOverride: true,
      createContext: async ({ info }) => {
        const call = await open(c, info.calls.length).catch((error) => {
          refused = asRpcError(error);
          throw refused;
        });
        return {
          deps,
          call,
          charging,
          inspectQuery: () => inspectInput(info.url?.searchParams.get("input")),
        };
      },
      onError: ({ error }) => {
        if (error !== refused) logDefect(c, error);
      },
    });
    if (refused) {
      logDefect(c, refused);
      return finished(c, refusalOf(refused));
    }
    await Promise.all(charging);
    return finished(c, response);
  });
  routes.all("/*", (c) => {
    const cause = new Refusal({ reason: "method_not_allowed" });
    const response = refusalOf(new TRPCError({ code: "METHOD_NOT_SUPPORTED", cause }));
    response.headers.set("allow", "GET, HEAD, POST");
    return finished(c, response);
  });
  return routes;
}

function asRpcError(error: unknown): TRPCError {
  return error instanceof TRPCError ? error : new TRPCError({ code: "INTERNAL_SERVER_ERROR", cause: error });
}
