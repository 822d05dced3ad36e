import { TRPCError } from "@trpc/server";
import type { Context } from "hono";
import type { HonoEnv } from "../../http/hono-env.ts";
import { inspectJson } from "../../http/inspect-json.ts";
import { readJson } from "../../http/read-json.ts";
import { readTarget } from "../versions/version-path.ts";

/**
 * As much of a request as tRPC looks at: a whole one costs more than all the rest of a call. The body is read when a call
 * asks for its input, and inspected as REST's is.
 */
export function requestOf(c: Context<HonoEnv>): Request {
  const { url, method, headers } = c.req.raw;
  const text = async () => JSON.stringify(await readJson(c.env.incoming));
  // HEAD is answered as GET is; the answer's body is left out afterwards.
  return {
    url,
    method: method === "HEAD" ? "GET" : method,
    headers,
    signal: NEVER_LISTENED,
    text,
  } as Request;
}

/**
 * tRPC joins a request's signal with two of its own for each call, which costs a fifth of all calls. No procedure listens
 * to it, and one that has ended is not joined with anything.
 */
const NEVER_LISTENED = AbortSignal.abort();

/** What follows `/api/trpc/`, still encoded: tRPC decodes it, and cuts a batch at the commas. */
export function procedurePath(c: Context<HonoEnv>): string {
  const [path = ""] = (readTarget(c.req.raw.url).rest ?? "").split(/[?#]/, 1);
  const slash = path.indexOf("/");
  return slash === -1 ? "" : path.slice(slash + 1);
}

/** Of what is sent with GET. @throws Refusal `invalid_input` */
export function inspectInput(input: string | null | undefined): void {
  if (input) inspectJson(Buffer.from(input));
}

/** tRPC would take forms and files too, which a foreign page can send without asking first. @throws TRPCError */
export function assertJson({ req }: Context<HonoEnv>): void {
  const type = req.raw.headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase();
  if (req.method === "POST" && type !== "application/json") {
    throw new TRPCError({ code: "UNSUPPORTED_MEDIA_TYPE" });
  }
}
