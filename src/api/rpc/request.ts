import { TRPCError } from "@trpc/server";
import type { Context } from "hono";
import type { HonoEnv } from "../../http/hono-env.ts";
import { inspectJson } from "../../http/inspect-json.ts";
import { isJsonType } from "../../http/is-json-type.ts";
import { readJson } from "../../http/read-json.ts";
import { readTarget } from "../versions/version-path.ts";

/**
 * The parts of a `Request` that tRPC reads: a complete one costs more than the rest of a call. The body is
 * read when a call needs its input, and is checked like a REST body.
 */
export function requestOf(c: Context<HonoEnv>): Request {
  const { url, method, headers } = c.req.raw;
  const text = async () => JSON.stringify(await readJson(c.env.incoming, undefined, INSPECT_TEXT_PER_CALL));
  // HEAD is answered like GET; the body is removed afterwards.
  return {
    url,
    method: method === "HEAD" ? "GET" : method,
    headers,
    signal: NEVER_LISTENED,
    text,
  } as Request;
}

/** Text that cannot be stored must not fail the other calls of its batch: each call's input is inspected. */
const INSPECT_TEXT_PER_CALL = { inspectsText: false };

/**
 * tRPC combines the request's signal with two of its own for each call, a fifth of a call's cost, but not if
 * it has been aborted already. No procedure uses it.
 */
const NEVER_LISTENED = AbortSignal.abort();

/** What follows `/api/trpc/`, still encoded: tRPC decodes it, and cuts a batch at the commas. */
export function procedurePath(c: Context<HonoEnv>): string {
  const [path = ""] = (readTarget(c.req.raw.url).rest ?? "").split(/[?#]/, 1);
  const slash = path.indexOf("/");
  return slash === -1 ? "" : path.slice(slash + 1);
}

/**
 * How many calls tRPC would find. It looks each one up before anything else is checked: thousands of commas, which fit
 * into a URL, would take a tenth of a second of everybody's time.
 */
export function countCalls(c: Context<HonoEnv>): number {
  const isBatch = new URL(c.req.raw.url).searchParams.get("batch") === "1";
  return isBatch ? procedurePath(c).split(/,|%2c/i).length : 1;
}

/** Of what is sent with GET. @throws Refusal `invalid_input` */
export function inspectInput(input: string | null | undefined): void {
  if (input) inspectJson(Buffer.from(input), "input", INSPECT_TEXT_PER_CALL);
}

/**
 * tRPC would take forms and files too, which a foreign page can send without asking first. @throws TRPCError
 */
export function assertJson({ req }: Context<HonoEnv>): void {
  if (req.method === "POST" && !isJsonType(req.raw.headers.get("content-type") ?? "")) {
    throw new TRPCError({ code: "UNSUPPORTED_MEDIA_TYPE" });
  }
}
