import { type Context, Hono } from "hono";
import type { HonoEnv } from "../http/hono-env.ts";
import { addLimitHeaders } from "../http/limit-headers.ts";
import { readJson } from "../http/read-json.ts";
import type { ThrottledLog } from "../observability/limit-repeats.ts";
import { type Call, charge } from "../operations/call.ts";
import { resumeAnswer } from "../operations/chat/resume-answer.ts";
import { type ChatReply, sendMessage } from "../operations/chat/send-message.ts";
import type { Dependencies } from "../operations/dependencies.ts";
import { execute, type Gate } from "../operations/operation.ts";
import { authenticate, type CallerContext } from "./authenticate.ts";

/** The longest allowed conversation in any language, including the fields that `useChat` adds. */
const MAX_BYTES = 1024 * 1024;
/** Sent as a comment while the model is silent, so that no proxy closes the connection. */
const KEEP_ALIVE_MS = 15_000;

/** `POST /chat` responds with the AI SDK's UI message stream (server-sent events), as `useChat` expects. */
export function chat(
  deps: Pick<Dependencies, keyof Gate | "chat">,
  callers: CallerContext,
  log: ThrottledLog,
): Hono<HonoEnv> {
  const routes = new Hono<HonoEnv>();
  routes.post("/chat", async (c) => {
    c.set("isRest", true);
    const call = await authenticate(c, callers);
    const reply = await execute(sendMessage, deps, call, () => readJson(c.env.incoming, MAX_BYTES));
    await chargeDay(call, deps.limits);
    addLimitHeaders(c, call.charges);
    return streamResponse(c, await openReply(c, reply, log));
  });
  // As `useChat` with `resume` asks after a reload; 204 tells it that there is nothing to resume.
  routes.get("/chat/:id/stream", async (c) => {
    c.set("isRest", true);
    const call = await authenticate(c, callers);
    const stream = await execute(resumeAnswer, deps, call, () => ({ id: c.req.param("id") }));
    addLimitHeaders(c, call.charges);
    if (stream === null) return c.body(null, 204);
    const response = await streamResponse(c, stream);
    // Nobody reads the body of a HEAD, and not every host cancels that of a client who has left: it would count as read for ever.
    if (c.req.method === "HEAD" || c.req.raw.signal.aborted) await response.body?.cancel();
    return response;
  });
  return routes;
}

/** Reported only when it refuses: otherwise the limit per minute matters more. */
async function chargeDay(call: Call, limits: Gate["limits"]): Promise<void> {
  const { caller } = call;
  const day: Call = { caller, charges: [] };
  try {
    await charge("ai-chat-day", limits, day);
  } catch (error) {
    call.charges.push(...day.charges);
    throw error;
  }
}

/**
 * Waits for the first tokens: a failure before them still gets its own status.
 * @throws Refusal `unavailable`
 */
function openReply(c: Context<HonoEnv>, reply: ChatReply, log: ThrottledLog): ReturnType<ChatReply["open"]> {
  return reply.open({
    signal: c.req.raw.signal,
    onFailure: (problem) => log.error({ requestId: c.get("requestId"), problem }, "chat failed"),
  });
}

async function streamResponse(
  c: Context<HonoEnv>,
  stream: Awaited<ReturnType<ChatReply["open"]>>,
): Promise<Response> {
  // Loaded on demand: a large package that is not needed without a model.
  const { createUIMessageStreamResponse } = await import("ai");
  const { body, headers } = createUIMessageStreamResponse({
    stream,
    keepAliveMs: KEEP_ALIVE_MS,
    headers: { "cache-control": "no-store" },
  });
  // The server decides about keep-alive: while it stops, it closes connections.
  headers.delete("connection");
  return c.newResponse(body, 200, Object.fromEntries(headers));
}
