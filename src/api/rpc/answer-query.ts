import { getTRPCErrorFromUnknown, TRPCError } from "@trpc/server";
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { HonoEnv } from "../../http/hono-env.ts";
import { limitHeaders } from "../../http/limit-headers.ts";
import { answerText, hasCookies, responseHeaders } from "../../http/response-headers.ts";
import { statusHeaders } from "../../http/status-of.ts";
import { finished } from "./answer.ts";
import { shapeOf } from "./errors.ts";
import { transformer } from "./input.ts";
import { type RpcContext, resolverOf } from "./procedures.ts";
import { inspectInput, procedurePath } from "./request.ts";
import { appRouter } from "./router.ts";
import { superJsonText } from "./super-json-text.ts";

/**
 * Answers a single GET query, alone or in a batch of one, as most are: tRPC's HTTP layer would double its
 * cost.
 */
export type SingleQuery = { path: string; input: string | null; isBatch: boolean };

const QUERIES = new Map(
  Object.entries(appRouter._def.procedures as unknown as Record<string, object>).flatMap(
    ([path, procedure]) => {
      const resolve = resolverOf(procedure);
      return resolve ? [[path, resolve]] : [];
    },
  ),
);

/** `null`: left to tRPC (batches, streams, mutations, malformed requests). */
export function readSingleQuery(c: Context<HonoEnv>): SingleQuery | null {
  const { method, headers } = c.env.incoming;
  if (method !== "GET" || headers["trpc-accept"] || headers["content-type"]) return null;
  if (headers.accept?.includes("jsonl")) return null;
  const path = procedurePath(c);
  if (!QUERIES.has(path)) return null;
  const { url } = c.req.raw;
  const mark = url.indexOf("?");
  const parameters = new URLSearchParams(mark === -1 ? "" : url.slice(mark + 1));
  for (const name of parameters.keys()) if (name !== "batch" && name !== "input") return null;
  return { path, input: parameters.get("input"), isBatch: parameters.get("batch") === "1" };
}

/** Responds as tRPC would. @param onError called with any error of the procedure */
export async function answerQuery(
  c: Context<HonoEnv>,
  { path, input, isBatch }: SingleQuery,
  context: Pick<RpcContext, "deps" | "call">,
  onError: (error: TRPCError) => void,
): Promise<Response> {
  let status = 200;
  let envelope: string;
  try {
    const resolve = QUERIES.get(path) as NonNullable<ReturnType<typeof resolverOf>>;
    const data = await resolve(context, () => {
      inspectInput(input);
      return readInput(input, isBatch);
    });
    envelope = `{"result":{"data":${superJsonText(data)}}}`;
  } catch (thrown) {
    const error = getTRPCErrorFromUnknown(thrown);
    onError(error);
    const shape = shapeOf(error, path);
    status = shape.data.httpStatus;
    envelope = `{"error":${superJsonText(shape)}}`;
  }
  return respond(c, isBatch ? `[${envelope}]` : envelope, status);
}

/** @throws TRPCError as tRPC does for an unreadable input */
function readInput(input: string | null, isBatch: boolean): unknown {
  if (!input) return undefined;
  let parsed: unknown;
  try {
    parsed = JSON.parse(input);
  } catch (cause) {
    throw new TRPCError({ code: "BAD_REQUEST", message: (cause as Error).message, cause });
  }
  if (!isBatch) return transformer.input.deserialize(parsed);
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
    throw new TRPCError({
      code: "BAD_REQUEST",
      message: '"input" needs to be an object when doing a batch call',
    });
  }
  const first = (parsed as Record<string, unknown>)["0"];
  return first === undefined ? undefined : transformer.input.deserialize(first);
}

const VARY = "trpc-accept, accept";

function respond(c: Context<HonoEnv>, text: string, status: number): Response {
  if (hasCookies(c)) {
    return finished(c, new Response(text, { status, headers: { vary: VARY } }));
  }
  const { vary } = responseHeaders(c);
  return answerText(c, text, status as ContentfulStatusCode, {
    "content-type": "application/json",
    ...limitHeaders(c.get("charges") ?? []),
    ...statusHeaders(status),
    vary: vary === undefined ? VARY : `${VARY}, ${vary}`,
  });
}
