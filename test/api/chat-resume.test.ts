import { createHash, randomUUID } from "node:crypto";
import { DefaultChatTransport, readUIMessageStream, type UIMessage, type UIMessageChunk } from "ai";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { chat } from "../../src/api/chat.ts";
import type { Chat } from "../../src/chat/chat.ts";
import { createChat } from "../../src/chat/create-chat.ts";
import { toNodeRequest } from "../../src/http/to-node-request.ts";
import { createLog } from "../../src/observability/log.ts";
import { eventually } from "../support/eventually.ts";
import { testApp, testCallers, testLimits } from "../support/guarded-app.ts";
import { listen, sendRequest } from "../support/http.ts";
import { describeWith } from "../support/installed-programs.ts";
import { type Exchange, type OpenAiServer, openAiServer } from "../support/openai-server.ts";
import { REDIS, startRedis, type TestRedis } from "../support/redis.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";

let provider: OpenAiServer;
const closing: { close(): unknown }[] = [];
beforeAll(async () => {
  provider = await openAiServer();
});
beforeEach(() => {
  provider.exchanges.length = 0;
  provider.answer((exchange) => exchange.say("Fine"));
});
afterAll(async () => {
  for (const closable of closing.toReversed()) await closable.close();
  await provider.close();
});

type Options = { redisUrls?: string[]; abandonAfterMs?: number; timeoutMs?: number };

function chatWith(options: Options = {}): Chat {
  const settings = { baseUrl: provider.baseUrl, apiKey: null, model: "model-1", maxOutputTokens: 1_000 };
  const model = createChat({ ...settings, ...options });
  closing.push({ close: () => model.close() });
  return model;
}

function appOf(model: Chat) {
  const deps = { chat: model, limits: testLimits(), observe: null };
  return testApp("/api", chat(deps, testCallers, createLog("silent")));
}

async function served(options: Options = {}): Promise<string> {
  const server = await listen(appOf(chatWith(options)));
  closing.push(server);
  return server.url;
}

/**
 * Asks without HTTP, where a disconnected reader is noticed at once, and disconnects after the first words.
 */
async function askDirectlyAndLeave(model: Chat, chatId = "chat-1"): Promise<Exchange> {
  const reader = (
    await model.stream([{ role: "user", content: "How are you?" }], {
      userId: "user_1",
      chatId,
      signal: new AbortController().signal,
      onFailure: () => {},
    })
  ).getReader();
  while ((await reader.read()).value?.type !== "text-delta");
  await reader.cancel();
  return provider.exchanges.at(-1) as Exchange;
}

const transport = (url: string, user = "user_1") =>
  new DefaultChatTransport<UIMessage>({ api: `${url}/api/chat`, headers: { "x-test-user": user } });

const QUESTION: UIMessage = { id: "1", role: "user", parts: [{ type: "text", text: "How are you?" }] };

const ask = (url: string, abortSignal?: AbortSignal) =>
  transport(url).sendMessages({
    trigger: "submit-message",
    chatId: "chat-1",
    messageId: undefined,
    messages: [QUESTION],
    abortSignal,
  });

const resume = (url: string, { chatId = "chat-1", user = "user_1" } = {}) =>
  transport(url, user).reconnectToStream({ chatId });

async function textOf(stream: ReadableStream<UIMessageChunk> | null): Promise<string> {
  let message: UIMessage | undefined;
  for await (const state of readUIMessageStream({ stream: stream as ReadableStream<UIMessageChunk> })) {
    message = state;
  }
  return (message?.parts ?? []).map((part) => (part.type === "text" ? part.text : "")).join("");
}

/** Reads until these words have arrived, then disconnects. */
async function askAndLeave(url: string): Promise<Exchange> {
  const client = new AbortController();
  const reader = (await ask(url, client.signal)).getReader();
  while ((await reader.read()).value?.type !== "text-delta");
  client.abort();
  await reader.closed.catch(() => {});
  return provider.exchanges.at(-1) as Exchange;
}

const finish = (exchange: Exchange) => {
  exchange.say(", thank you.");
  exchange.finish();
};

describe("an answer whose reader disconnected", () => {
  it("is resumed from its start while it is written, by useChat's transport", async () => {
    const url = await served();
    const exchange = await askAndLeave(url);
    const text = textOf(await resume(url));
    finish(exchange);
    expect(await text).toBe("Fine, thank you.");
  });

  it("can still be resumed after it has ended, until it is delivered", async () => {
    const model = chatWith();
    finish(await askDirectlyAndLeave(model));
    expect(await textOf(await model.resume("user_1", "chat-1"))).toBe("Fine, thank you.");
    expect(await model.resume("user_1", "chat-1")).toBeNull();
  });

  it("is aborted at the provider when nobody comes back", async () => {
    const exchange = await askAndLeave(await served({ abandonAfterMs: 1 }));
    await exchange.hungUp;
  });

  it("is aborted at the provider when the server stops", async () => {
    const model = chatWith({ timeoutMs: 3_600_000, abandonAfterMs: 3_600_000 });
    const exchange = await askDirectlyAndLeave(model);
    model.close();
    await exchange.hungUp;
  });

  it("is not found by another user, or by another id", async () => {
    const url = await served();
    const exchange = await askAndLeave(url);
    expect(await resume(url, { user: "user_2" })).toBeNull();
    expect(await resume(url, { chatId: "chat-2" })).toBeNull();
    finish(exchange);
  });

  it("gives way to the next answer of its conversation", async () => {
    const url = await served();
    const first = await askAndLeave(url);
    provider.answer((exchange) => exchange.say("Again fine"));
    const second = await askAndLeave(url);
    const text = textOf(await resume(url));
    finish(first);
    finish(second);
    expect(await text).toBe("Again fine, thank you.");
  });
});

it("returns 204 when no answer is being written", async () => {
  const url = await served();
  const headers = { "x-test-user": "user_1" };
  provider.answer(finish);
  expect(await textOf(await ask(url))).toBe(", thank you.");
  // None of them counts as one that is being read.
  for (const remaining of ["29", "28", "27", "26"]) {
    const { status, text, fields } = await sendRequest(url, "GET", "/api/chat/chat-1/stream", { headers });
    expect([status, text, fields["x-ratelimit-remaining"]]).toEqual([204, "", remaining]);
  }
  expect((await sendRequest(url, "GET", "/api/chat/chat-1/stream")).status).toBe(401);
  const tooLong = `/api/chat/${"c".repeat(256)}/stream`;
  expect((await sendRequest(url, "GET", tooLong, { headers })).status).toBe(400);
});

it("refuses to resume a fourth answer at once", async () => {
  const url = await served();
  const exchange = await askAndLeave(url);
  const open = await Promise.all([resume(url), resume(url), resume(url)]);
  const headers = { "x-test-user": "user_1" };
  expect((await sendRequest(url, "GET", "/api/chat/chat-1/stream", { headers })).status).toBe(429);
  await open[0]?.cancel();
  finish(exchange);
  for (const stream of open.slice(1)) expect(await textOf(stream)).toBe("Fine, thank you.");
});

it("opens no answer for a HEAD, whose body nobody reads", async () => {
  const url = await served();
  const exchange = await askAndLeave(url);
  const headers = { "x-test-user": "user_1" };
  for (let n = 0; n < 4; n += 1)
    expect((await sendRequest(url, "HEAD", "/api/chat/chat-1/stream", { headers })).status).toBe(200);
  const text = textOf(await resume(url));
  finish(exchange);
  expect(await text).toBe("Fine, thank you.");
});

it("opens no answer for clients who have left meanwhile", async () => {
  const model = chatWith();
  const app = appOf(model);
  const exchange = await askDirectlyAndLeave(model);
  const open = async (signal: AbortSignal) => {
    const headers = { "x-test-user": "user_1" };
    const request = new Request("https://app.example.com/api/chat/chat-1/stream", { headers, signal });
    return app.fetch(request, { incoming: toNodeRequest(request, "192.0.2.1"), outgoing: {} } as never);
  };
  for (let n = 0; n < 4; n += 1) await open(AbortSignal.abort());
  const { status } = await open(new AbortController().signal);
  finish(exchange);
  expect(status).toBe(200);
});

describeWith("several processes with Redis", REDIS, ({ "redis-server": program }) => {
  let redisUrls: string[];
  beforeAll(async () => {
    const redis = await startRedis(program);
    closing.push({ close: redis.remove });
    redisUrls = [redis.url];
  });
  const read = async (reader: ReadableStreamDefaultReader<UIMessageChunk>, chunks: UIMessageChunk[]) => {
    const { value } = await reader.read();
    if (value) chunks.push(value);
    return value?.type;
  };
  /** Waits until the answer has reached Redis. */
  async function resumed(model: Chat): Promise<ReadableStream<UIMessageChunk>> {
    let stream: ReadableStream<UIMessageChunk> | null = null;
    await eventually(async () => {
      stream = await model.resume("user_1", "chat-1");
      return stream !== null;
    }, true);
    return stream as never;
  }

  /** Asks until an answer has reached the other process: both are connected then. */
  async function connected(writer: Chat, second: Chat): Promise<void> {
    const chatId = `connecting-${randomUUID()}`;
    await eventually(async () => {
      finish(await askDirectlyAndLeave(writer, chatId));
      const stream = await second.resume("user_1", chatId);
      await stream?.cancel();
      return stream !== null;
    }, true);
    provider.exchanges.length = 0;
  }

  it("resume an answer that another process is writing", async () => {
    const [writer, reader] = [chatWith({ redisUrls, abandonAfterMs: 50 }), chatWith({ redisUrls })];
    await connected(writer, reader);
    const first = (
      await writer.stream([{ role: "user", content: "How are you?" }], {
        userId: "user_1",
        chatId: "chat-1",
        signal: new AbortController().signal,
        onFailure: () => {},
      })
    ).getReader();
    const following = (await resumed(reader)).getReader();
    const chunks: UIMessageChunk[] = [];
    while ((await read(following, chunks)) !== "text-delta");
    const [exchange] = provider.exchanges as [Exchange];
    exchange.say(", thank");
    // The reader has polled by now, so the writer knows of it.
    while ((await read(following, chunks)) !== "text-delta");
    await first.cancel();
    const third = textOf(await resumed(reader));
    exchange.say(" you.");
    exchange.finish();
    while ((await read(following, chunks)) !== undefined);
    const text = chunks.map((chunk) => (chunk.type === "text-delta" ? chunk.delta : "")).join("");
    expect([text, await third]).toEqual(["Fine, thank you.", "Fine, thank you."]);
    expect(await reader.resume("user_1", "chat-1")).toBeNull();
  });

  it("resume an answer that has ended, once", async () => {
    const [writer, reader] = [chatWith({ redisUrls }), chatWith({ redisUrls })];
    await connected(writer, reader);
    finish(await askDirectlyAndLeave(writer));
    expect(await textOf(await resumed(reader))).toBe("Fine, thank you.");
    expect(await reader.resume("user_1", "chat-1")).toBeNull();
  });

  it("resume the newest answer of a conversation while they write earlier ones", async () => {
    const lasting = { redisUrls, abandonAfterMs: 600_000, timeoutMs: 600_000 };
    const [earlier, later] = [chatWith(lasting), chatWith(lasting)];
    await connected(later, earlier);
    await askDirectlyAndLeave(earlier, "chat-2");
    provider.answer((exchange) => exchange.say("Better"));
    await askDirectlyAndLeave(later, "chat-2");
    const resumedFrom = async (model: Chat) => {
      const reader = (await model.resume("user_1", "chat-2"))?.getReader();
      for (;;) {
        const { value } = (await reader?.read()) ?? {};
        if (value !== undefined && value.type !== "text-delta") continue;
        await reader?.cancel();
        return value?.delta;
      }
    };
    await eventually(() => resumedFrom(earlier), "Better");
    expect(await resumedFrom(later)).toBe("Better");
  });

  it.each([
    ["dropped what was written so far", 0],
    ["lost the newest words in a failover", -1],
  ])("resume no answer with a gap after Redis has %s", async (_, from) => {
    const redis = await startRedis(program);
    closing.push({ close: redis.remove });
    const [writer, reader] = [0, 1].map(() => chatWith({ redisUrls: [redis.url] })) as [Chat, Chat];
    await connected(writer, reader);
    const exchange = await askDirectlyAndLeave(writer);
    const following = (await resumed(reader)).getReader();
    while ((await following.read()).value?.type !== "text-delta");
    const chatId = createHash("sha256")
      .update(JSON.stringify(["user_1", "chat-1"]))
      .digest("base64url");
    const key = (await redis.ask("GET", `tollgate:chat:${chatId}`)) as string;
    const entries = (await redis.ask("XRANGE", key, "-", "+")) as [string][];
    const lost = entries.slice(from).map(([id]) => id);
    await following.cancel();
    await redis.ask("XDEL", key, ...lost);
    finish(exchange);
    const chunks = await Array.fromAsync((await resumed(reader)) as AsyncIterable<UIMessageChunk>);
    expect(chunks.at(-1)).toEqual({ type: "error", errorText: "The answer broke off. Please try again." });
    expect(chunks.some((chunk) => chunk.type === "text-delta" && chunk.delta !== "Fine")).toBe(false);
  });

  it("share answers again once the address leads to another Redis than the one that was the primary", {
    timeout: 90_000,
  }, async () => {
    const [former, promoted] = [await startRedis(program), await startRedis(program)];
    const endpoint = await startTcpProxy(portOf(former));
    closing.push({ close: former.remove }, { close: promoted.remove }, endpoint);
    const urls = [`redis://127.0.0.1:${endpoint.port}`];
    const [writer, reader] = [chatWith({ redisUrls: urls }), chatWith({ redisUrls: urls })];
    await connected(writer, reader);
    await former.ask("REPLICAOF", "127.0.0.1", String(portOf(promoted)));
    // New connections alone: those that are open lead to the replica.
    endpoint.leadTo(portOf(promoted));
    await connected(writer, reader);
  });

  it("answer without a Redis, each resuming its own", async () => {
    const url = await served({ redisUrls: ["redis://127.0.0.1:1"] });
    const exchange = await askAndLeave(url);
    const text = textOf(await resume(url));
    finish(exchange);
    expect(await text).toBe("Fine, thank you.");
  });
});

const portOf = ({ url }: TestRedis) => Number(new URL(url).port);
