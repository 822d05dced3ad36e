import { DefaultChatTransport, readUIMessageStream, type UIMessage } from "ai";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { chat } from "../../src/api/chat.ts";
import { createChat } from "../../src/chat/create-chat.ts";
import type { Log } from "../../src/observability/log.ts";
import { sendMessage } from "../../src/operations/chat/send-message.ts";
import { testApp, testCallers, testLimits } from "../support/guarded-app.ts";
import { listen } from "../support/http.ts";
import { type Exchange, type OpenAiServer, openAiServer } from "../support/openai-server.ts";

const API_KEY = "sk-do-not-show-me";
/** Only for providers that stay silent: on a busy machine an answer may take longer. */
const TIMEOUT_MS = 400;

let provider: OpenAiServer;
let app: Awaited<ReturnType<typeof listen>>;
let problems: string[];
const extra: { close(): Promise<void> }[] = [];

beforeAll(async () => {
  provider = await openAiServer();
});
beforeEach(async () => {
  problems = [];
  provider.exchanges.length = 0;
  app = await served(chatOf());
});
afterAll(async () => {
  for (const closable of extra) await closable.close();
  await provider.close();
});

function chatOf(changes: { baseUrl?: string; timeoutMs?: number } = {}): ReturnType<typeof createChat> {
  const { baseUrl } = provider;
  return createChat({ baseUrl, apiKey: API_KEY, model: "model-1", maxOutputTokens: 1_000, ...changes });
}

/** An answer ends when the provider has been silent for `TIMEOUT_MS`. */
async function withShortTimeout(): Promise<void> {
  app = await served(chatOf({ timeoutMs: TIMEOUT_MS }));
}

async function served(model: ReturnType<typeof createChat> | null, limits = testLimits()) {
  const log = { error: (fields: { problem: string }) => problems.push(fields.problem) } as unknown as Log;
  const server = await listen(
    testApp("/api", chat({ chat: model, limits, observe: null }, testCallers, log)),
  );
  extra.push(server);
  return server;
}

const QUESTION = { messages: [{ role: "user", content: "How are you?" }] };

function post(
  body: unknown = QUESTION,
  { signal, ...headers }: Record<string, string> & { signal?: never } = {},
) {
  return fetch(`${app.url}/api/chat`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-test-user": "user_1", ...headers },
    body: JSON.stringify(body),
    ...(signal ? { signal } : {}),
  });
}

/** Server-sent events one by one, as they come in. */
async function* eventsOf(answer: Response): AsyncGenerator<string> {
  let text = "";
  for await (const bytes of answer.body as ReadableStream<Uint8Array>) {
    text += Buffer.from(bytes).toString();
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const event = text.slice(0, end);
      text = text.slice(end + 2);
      if (event.startsWith("data: ")) yield event.slice("data: ".length);
    }
  }
  expect(text).toBe("");
}

async function chunksOf(answer: Response) {
  const events = await Array.fromAsync(eventsOf(answer));
  expect(events.at(-1)).toBe("[DONE]");
  return events.slice(0, -1).map((event) => JSON.parse(event));
}

function wordsOf(chunks: { type: string; delta?: string }[]): string {
  return chunks.flatMap(({ type, delta }) => (type === "text-delta" ? [delta] : [])).join("");
}

describe("POST /api/chat", () => {
  it("sends a comment every 15 s while the model is silent, so that no proxy closes the connection", async () => {
    app = await served(chatOf({ timeoutMs: 10_000_000 }));
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    let exchange = undefined as Exchange | undefined;
    provider.answer((started) => {
      exchange = started;
      started.say("Fine");
    });
    const { body } = await post();
    let text = "";
    let isFinished = false;
    for await (const bytes of body as ReadableStream<Uint8Array>) {
      text += Buffer.from(bytes).toString();
      if (isFinished || !text.includes("Fine")) continue;
      isFinished = text.split(": keep-alive\n\n").length > 2;
      if (isFinished) exchange?.finish();
      else vi.advanceTimersByTime(15_000);
    }
    expect(text).toMatch(/\n\ndata: \[DONE\]\n\n$/);
    expect(isFinished).toBe(true);
  });

  it("streams words as they arrive", async () => {
    let exchange = undefined as Exchange | undefined;
    provider.answer((started) => {
      exchange = started;
      started.say("Fine");
    });
    const response = await post();
    expect(response.status).toBe(200);
    const events = eventsOf(response);
    const until = async (words: string) => {
      for (;;) {
        const { value } = await events.next();
        if (value?.includes(`"delta":"${words}"`)) return;
      }
    };
    await until("Fine");
    exchange?.say(", and you?");
    await until(", and you?");
    exchange?.finish();
    const remainingEvents = await Array.fromAsync(events);
    expect(remainingEvents.at(-2)).toContain('"finishReason":"stop"');
    expect(remainingEvents.at(-1)).toBe("[DONE]");
    expect(problems).toEqual([]);
  });

  it("sends the configured model and key in OpenAI's format", async () => {
    provider.answer((exchange) => {
      exchange.say("Yes");
      exchange.finish();
    });
    const messages = [
      { role: "user", content: "a" },
      { role: "assistant", content: "b" },
      { role: "user", content: "c" },
    ];
    expect(wordsOf(await chunksOf(await post({ messages })))).toBe("Yes");
    const [exchange] = provider.exchanges;
    expect(exchange?.path).toBe("/v1/chat/completions");
    expect(exchange?.headers.authorization).toBe(`Bearer ${API_KEY}`);
    expect(exchange?.body).toMatchObject({ model: "model-1", max_tokens: 1_000, stream: true, messages });
    expect(provider.exchanges).toHaveLength(1);
  });

  it("sends no Authorization header without a configured key", async () => {
    app = await served(
      createChat({ baseUrl: `${provider.baseUrl}/`, apiKey: null, model: "model-1", maxOutputTokens: 1_000 }),
    );
    provider.answer((exchange) => {
      exchange.say("Yes");
      exchange.finish();
    });
    expect(wordsOf(await chunksOf(await post()))).toBe("Yes");
    expect(provider.exchanges[0]?.headers).not.toHaveProperty("authorization");
    expect(provider.exchanges[0]?.path).toBe("/v1/chat/completions");
  });

  it("sends content type, limit headers and no-store", async () => {
    provider.answer((exchange) => {
      exchange.say("Yes");
      exchange.finish();
    });
    const { headers, body } = await post();
    await body?.cancel();
    expect(Object.fromEntries(headers)).toMatchObject({
      "content-type": "text/event-stream",
      "cache-control": "no-store",
      "x-vercel-ai-ui-message-stream": "v1",
      "x-ratelimit-remaining": "29",
    });
  });

  it("streams an empty answer, and one that starts with reasoning", async () => {
    provider.answer((exchange) => exchange.finish("content_filter"));
    expect((await chunksOf(await post())).at(-1)).toEqual({ type: "finish", finishReason: "content-filter" });
    provider.answer((exchange) => {
      exchange.delta({ reasoning_content: "Hm" });
      exchange.say("Yes");
      exchange.finish();
    });
    const chunks = await chunksOf(await post());
    expect(chunks.find(({ type }) => type === "reasoning-delta").delta).toBe("Hm");
    expect(wordsOf(chunks)).toBe("Yes");
  });

  it("forwards text and drops tool calls of the model", async () => {
    provider.answer((exchange) => {
      exchange.say("Yes");
      const call = { index: 0, id: "1", type: "function", function: { name: "rm", arguments: "{}" } };
      exchange.delta({ tool_calls: [call] });
      exchange.finish("tool_calls");
    });
    const chunks = await chunksOf(await post());
    expect(chunks.map(({ type }) => type).filter((type) => type.startsWith("tool"))).toEqual([]);
    expect(wordsOf(chunks)).toBe("Yes");
  });
});

describe("useChat's own transport", () => {
  const transportOf = () =>
    new DefaultChatTransport<UIMessage>({ api: `${app.url}/api/chat`, headers: { "x-test-user": "user_1" } });

  async function turn(messages: UIMessage[]): Promise<UIMessage> {
    const stream = await transportOf().sendMessages({
      trigger: "submit-message",
      chatId: "chat-1",
      messageId: undefined,
      messages,
      abortSignal: undefined,
    });
    let last: UIMessage | undefined;
    for await (const message of readUIMessageStream({ stream })) last = message;
    return last as UIMessage;
  }

  const question = (id: string, text: string): UIMessage => ({
    id,
    role: "user",
    parts: [{ type: "text", text }],
  });

  it("holds a conversation of several turns", async () => {
    provider.answer((exchange) => {
      exchange.delta({ reasoning_content: "Hm" });
      exchange.say("Fi");
      exchange.say("ne");
      exchange.finish();
    });
    const first = [question("1", "How are you?")];
    const answer = await turn(first);
    expect(answer.parts.map(({ type }) => type)).toEqual(["step-start", "reasoning", "text"]);
    await turn([...first, { ...answer, metadata: { at: 1 } }, question("2", "Really?")]);
    expect(provider.exchanges[1]?.body.messages).toEqual([
      { role: "user", content: "How are you?" },
      { role: "assistant", content: "Fine" },
      { role: "user", content: "Really?" },
    ]);
  });

  it("continues after an answer that fails before its first word", async () => {
    provider.answer((exchange) => {
      exchange.say("Yes");
      exchange.finish();
    });
    const failed: UIMessage = { id: "2", role: "assistant", parts: [{ type: "step-start" }] };
    await turn([question("1", "One"), failed, question("3", "Two")]);
    expect(
      provider.exchanges[0]?.body.messages.map((message: { content: string }) => message.content),
    ).toEqual(["One", "Two"]);
  });

  it("reports an interrupted answer by its error chunk", async () => {
    provider.answer((exchange) => {
      exchange.say("Fi");
      setTimeout(() => exchange.response.destroy(), 50);
    });
    const stream = await transportOf().sendMessages({
      trigger: "submit-message",
      chatId: "chat-1",
      messageId: undefined,
      messages: [question("1", "How are you?")],
      abortSignal: undefined,
    });
    const received = await Array.fromAsync(stream);
    expect(received.at(-1)).toEqual({ type: "error", errorText: "The answer broke off. Please try again." });
  });
});

describe("a provider that fails before the first word", () => {
  it.each<[string, (exchange: Exchange) => void, string]>([
    [
      "refuses the key",
      ({ response }) => response.writeHead(401).end(`{"error":{"message":"bad ${API_KEY}"}}`),
      "answered 401: check AI_API_KEY",
    ],
    [
      "does not know the model",
      ({ response }) => response.writeHead(404).end("{}"),
      "answered 404: check AI_BASE_URL and AI_MODEL",
    ],
    [
      "is overloaded",
      ({ response }) => response.writeHead(429, { "retry-after": "1" }).end("{}"),
      "answered 429",
    ],
    [
      "breaks down",
      ({ response }) => response.writeHead(500).end(`Error at /srv/secret.js with ${API_KEY}`),
      "answered 500",
    ],
    [
      "answers with a page",
      ({ response }) => response.writeHead(200, { "content-type": "text/html" }).end("<html>"),
      "broke off",
    ],
    ["answers with nothing", ({ response }) => response.writeHead(200).end(), "broke off"],
    [
      "answers without streaming",
      ({ response }) => response.writeHead(200, { "content-type": "application/json" }).end("{}"),
      "broke off",
    ],
    ["sends what is not JSON", ({ send }) => send("{oh no"), "an invalid response"],
    ["sends another JSON", ({ send }) => send('{"choices":"none"}'), "an invalid response"],
    [
      "reports an error in its stream",
      ({ send }) => send('{"error":{"code":"sk-1","message":"prompt: How are you?"}}'),
      "reported an error",
    ],
    ["hangs up at once", ({ response }) => response.destroy(), "check AI_BASE_URL"],
    [
      "hangs up after the header",
      ({ response }) => response.writeHead(200).flushHeaders(),
      `silent for ${TIMEOUT_MS} ms`,
    ],
    ["never answers", () => {}, `silent for ${TIMEOUT_MS} ms`],
    [
      "only keeps the connection alive",
      ({ response }) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        const beat = setInterval(() => response.write(": alive\n\n"), 50);
        response.once("close", () => clearInterval(beat));
      },
      `silent for ${TIMEOUT_MS} ms`,
    ],
    [
      "sends chunks without words",
      (exchange) => {
        const beat = setInterval(() => exchange.delta({ role: "assistant", content: "" }), 50);
        exchange.response.once("close", () => clearInterval(beat));
      },
      `silent for ${TIMEOUT_MS} ms`,
    ],
  ])("and %s causes a 503 without a retry, and is logged", async (_, fail, problem) => {
    if (problem.startsWith("silent")) await withShortTimeout();
    provider.answer(fail);
    const response = await post();
    const text = await response.text();
    expect(response.status).toBe(503);
    expect(text).toBe('{"error":"The assistant is not responding: try again in a minute"}');
    expect(response.headers.get("retry-after")).toBe("5");
    expect(provider.exchanges).toHaveLength(1);
    expect(problems).toEqual([expect.stringContaining(problem)]);
    expect(problems.join()).not.toMatch(/sk-|How are you|127\.0\.0\.1/);
  });

  it.each([302, 307])("is not followed to another host: %i", async (status) => {
    const elsewhere = await openAiServer();
    extra.push(elsewhere);
    elsewhere.answer((exchange) => exchange.finish());
    const location = `${elsewhere.baseUrl}/chat/completions`;
    provider.answer(({ response }) => void response.writeHead(status, { location }).end());
    expect((await post()).status).toBe(503);
    expect(elsewhere.exchanges).toEqual([]);
  });

  it("returns 503 when nothing listens at AI_BASE_URL", async () => {
    const closedServer = await openAiServer();
    await closedServer.close();
    app = await served(chatOf({ baseUrl: closedServer.baseUrl }));
    const response = await post();
    expect(response.status).toBe(503);
    expect(problems).toEqual(["the AI provider cannot be reached (ECONNREFUSED): check AI_BASE_URL"]);
  });

  it("is disconnected after the timeout", async () => {
    await withShortTimeout();
    provider.answer(() => {});
    await post();
    await (provider.exchanges[0] as Exchange).hungUp;
  });
});

describe("a provider that fails in the middle", () => {
  it.each<[string, (exchange: Exchange) => void, string]>([
    ["is cut off", ({ response }) => response.destroy(), "broke off"],
    ["ends without a finish", ({ response }) => response.end(), "broke off"],
    ["sends what is not JSON", ({ send }) => send("{oh no"), "an invalid response"],
    ["reports an error", ({ send }) => send(`{"error":{"message":"${API_KEY}"}}`), "reported an error"],
    ["falls silent", () => {}, `silent for ${TIMEOUT_MS} ms`],
  ])("and %s ends the answer with the words so far and a neutral sentence", async (_, fail, problem) => {
    if (problem.startsWith("silent")) await withShortTimeout();
    provider.answer((exchange) => {
      exchange.say("Fi");
      setTimeout(() => fail(exchange), 50);
    });
    const response = await post();
    expect(response.status).toBe(200);
    const chunks = await chunksOf(response);
    expect(wordsOf(chunks)).toBe("Fi");
    expect(chunks.at(-1)).toEqual({ type: "error", errorText: "The answer broke off. Please try again." });
    expect(chunks.filter(({ type }) => type === "error")).toHaveLength(1);
    expect(JSON.stringify(chunks)).not.toContain(API_KEY);
    expect(problems).toEqual([expect.stringContaining(problem)]);
  });

  it("is disconnected", async () => {
    provider.answer((exchange) => {
      exchange.say("Fi");
      exchange.send("{oh no");
    });
    await (await post()).text();
    await (provider.exchanges[0] as Exchange).hungUp;
  });
});

describe("a client that disconnects", () => {
  const asking = (signal: AbortSignal) =>
    fetch(`${app.url}/api/chat`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-test-user": "user_1" },
      body: JSON.stringify(QUESTION),
      signal,
    });

  it("aborts the call to the provider before the first word", async () => {
    const client = new AbortController();
    app = await served(chatOf());
    const asked = new Promise<Exchange>((asked) => provider.answer(asked));
    const answer = asking(client.signal).catch((error) => error.name);
    const exchange = await asked;
    client.abort();
    await exchange.hungUp;
    expect(await answer).toBe("AbortError");
    expect(problems).toEqual([]);
  });

  it("aborts the call to the provider in the middle of an answer", async () => {
    const client = new AbortController();
    app = await served(chatOf());
    provider.answer((exchange) => exchange.say("Fi"));
    const answer = await asking(client.signal);
    const reader = answer.body?.getReader();
    await reader?.read();
    client.abort();
    await (provider.exchanges[0] as Exchange).hungUp;
    expect(problems).toEqual([]);
  });
});

describe("a reader that stops reading", () => {
  it("aborts the call to the provider without logging a failure", async () => {
    provider.answer((exchange) => exchange.say("Fi"));
    const model = chatOf();
    const reader = (
      await model.stream([{ role: "user", content: "a" }], {
        userId: "user_0",
        chatId: null,
        signal: new AbortController().signal,
        onFailure: (problem) => problems.push(problem),
      })
    ).getReader();
    while ((await reader.read()).value?.type !== "text-delta");
    const pending = reader.read();
    await reader.cancel();
    expect(await pending).toEqual({ done: true, value: undefined });
    await (provider.exchanges[0] as Exchange).hungUp;
    expect(problems).toEqual([]);
  });
});

it.each([null, "chat_1"])(
  "a client that has already left costs no call to the provider (chat %s)",
  async (chatId) => {
    provider.answer((exchange) => exchange.say("Fi"));
    const model = chatOf();
    const answer = model.stream([{ role: "user", content: "a" }], {
      userId: "user_0",
      chatId,
      signal: AbortSignal.abort(),
      onFailure: (problem) => problems.push(problem),
    });
    await expect(answer).rejects.toMatchObject({ code: "unavailable" });
    expect(provider.exchanges).toEqual([]);
    expect(problems).toEqual([]);
  },
);

describe("access to the chat", () => {
  const expectSuccess = () =>
    provider.answer((exchange) => {
      exchange.say("Yes");
      exchange.finish();
    });

  it("requires a session or key before the provider is called", async () => {
    const response = await fetch(`${app.url}/api/chat`, { method: "POST", body: "not even JSON" });
    expect(response.status).toBe(401);
    expect(await response.json()).toEqual({ error: "Unauthorized" });
    expect(provider.exchanges).toEqual([]);
  });

  it("admits thirty calls a minute, and calls no provider for refused ones", async () => {
    expectSuccess();
    const statuses = await Promise.all(
      Array.from({ length: 33 }, async () => {
        const response = await post();
        await response.text();
        return response.status;
      }),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(30);
    expect(statuses.filter((status) => status === 429)).toHaveLength(3);
    expect(provider.exchanges).toHaveLength(30);
    const othersAnswer = await post(QUESTION, { "x-test-user": "user_2" });
    expect(othersAnswer.status).toBe(200);
    await othersAnswer.text();
  });

  it("limits messages per day, under its own scope, and calls no provider for refused ones", async () => {
    expectSuccess();
    const limits = testLimits();
    const policies = { ...limits.policies, "ai-chat-day": { limit: 2, windowSeconds: 86_400 } };
    app = await served(chatOf(), { ...limits, policies });
    for (let n = 0; n < 2; n += 1) {
      const response = await post();
      expect([response.status, response.headers.get("x-ratelimit-limit")]).toEqual([200, "30"]);
      await response.text();
    }
    const refused = await post();
    expect(refused.status).toBe(429);
    expect(refused.headers.get("x-ratelimit-remaining")).toBe("0");
    expect(refused.headers.get("ratelimit")).toContain('"ai-chat-day";r=0');
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(80_000);
    expect(provider.exchanges).toHaveLength(2);
    const othersAnswer = await post(QUESTION, { "x-test-user": "user_2" });
    expect(othersAnswer.status).toBe(200);
    await othersAnswer.text();
  });

  it("returns 503 naming the variable to set when not configured", async () => {
    app = await served(null);
    const response = await post();
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({
      error: "The assistant is not configured: set AI_BASE_URL and AI_MODEL",
    });
  });

  const user = { role: "user", content: "a" };
  const parts = (...parts: object[]) => ({ messages: [{ role: "user", parts }] });
  it.each<[string, unknown, string]>([
    ["nothing", {}, "messages: is required"],
    ["no messages", { messages: [] }, "messages: must not be empty"],
    ["a list of 101", { messages: Array(101).fill(user) }, "messages: expected at most 100 entries"],
    [
      "a system message",
      { messages: [{ role: "system", content: "Obey" }, user] },
      "messages.0.role: expected one of user, assistant",
    ],
    [
      "a tool's message",
      { messages: [{ role: "tool", content: "{}" }, user] },
      "messages.0.role: expected one of user, assistant",
    ],
    [
      "neither content nor parts",
      { messages: [{ role: "user" }] },
      "messages.0: expected either content or parts",
    ],
    ["both", { messages: [{ ...user, parts: [] }] }, "messages.0: expected either content or parts"],
    [
      "only white space",
      { messages: [user, { role: "user", content: " \n" }] },
      "messages.1: must not be empty",
    ],
    ["no words", parts({ type: "step-start" }), "messages.0: must not be empty"],
    [
      "a file",
      parts({ type: "file", mediaType: "image/png", url: "http://169.254.169.254/" }),
      "messages.0.parts.0.type: expected one of text, reasoning, step-start",
    ],
    [
      "a tool's result",
      parts({ type: "tool-x", toolCallId: "1", state: "output-available" }),
      "messages.0.parts.0.type: expected one of text, reasoning, step-start",
    ],
    ["text that is none", parts({ type: "text", text: { a: 1 } }), "messages.0.parts.0.text: expected text"],
    [
      "content that is a list",
      { messages: [{ role: "user", content: [{ type: "image_url" }] }] },
      "messages.0.content: expected text",
    ],
    [
      "an answer as the last",
      { messages: [user, { role: "assistant", content: "b" }] },
      "messages: expected the last one to be the user's",
    ],
    [
      "too much",
      { messages: Array(3).fill({ role: "user", content: "a".repeat(33_334) }) },
      "messages: expected at most 100000 characters",
    ],
    [
      "another trigger",
      { ...QUESTION, trigger: "resume-stream" },
      "trigger: expected one of submit-message, regenerate-message",
    ],
  ])("rejects %s", async (_, body, error) => {
    const response = await post(body);
    expect(await response.json()).toEqual({ error });
    expect(response.status).toBe(400);
    expect(provider.exchanges).toEqual([]);
  });

  it("accepts the maximum number of characters in any script", async () => {
    expectSuccess();
    const response = await post({ messages: [{ role: "user", content: "語".repeat(100_000) }] });
    expect(response.status).toBe(200);
    await response.text();
    expect(provider.exchanges[0]?.body.messages[0].content).toBe("語".repeat(100_000));
  });

  it("rejects a larger body without reading it to the end", async () => {
    const response = await post({ messages: [{ role: "user", content: "a".repeat(2_000_000) }] });
    expect(response.status).toBe(413);
  });
});

describe("streaming answers", () => {
  it("are limited to three at once per user", async () => {
    provider.answer((exchange) => exchange.say("Fi"));
    const model = chatOf();
    const open = (userId: string) =>
      model.stream([{ role: "user", content: "a" }], {
        userId,
        chatId: null,
        signal: new AbortController().signal,
        onFailure: (problem) => problems.push(problem),
      });
    const [first, second, third] = [await open("user_0"), await open("user_0"), await open("user_0")];
    await expect(open("user_0")).rejects.toMatchObject({ code: "rate_limited" });
    const otherStreams = await open("user_1");
    await first.cancel();
    const fourth = await open("user_0");
    for (const stream of [second, third, fourth, otherStreams]) await stream.cancel();
  });
});

describe("a fourth answer at once", () => {
  it("is refused with 429 before the provider is called, also with an API key, until another ends", async () => {
    app = await served(chatOf());
    provider.answer((exchange) => exchange.say("Fi"));
    const streaming = [await post(), await post(), await post()];
    expect(streaming.map(({ status }) => status)).toEqual([200, 200, 200]);
    for (const headers of [{}, { "x-test-key": "key_1" }] as Record<string, string>[]) {
      const refused = await post(QUESTION, headers);
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"]);
      await refused.text();
    }
    expect(provider.exchanges).toHaveLength(3);

    provider.exchanges[0]?.finish();
    await streaming[0]?.text();
    const next = await post();
    expect(next.status).toBe(200);
    for (const answer of [streaming[1], streaming[2], next]) await answer?.body?.cancel();
  });

  it("is answered when the calls before it failed or were cancelled", async () => {
    app = await served(chatOf());
    provider.answer(({ response }) => {
      response.writeHead(500).end();
    });
    for (let n = 0; n < 3; n += 1) expect((await post()).status).toBe(503);
    provider.answer((exchange) => exchange.say("Fi"));
    for (let n = 0; n < 4; n += 1) {
      const response = await post();
      expect(response.status).toBe(200);
      await response.body?.cancel();
      await provider.exchanges.at(-1)?.hungUp;
    }
  });
});

describe("a body with fields that useChat adds", () => {
  it("is answered, and its unknown fields are ignored", () => {
    const body = {
      ...QUESTION,
      model: "another",
      messages: [{ role: "user", content: "Hello?", tool_calls: [], createdAt: "2030-01-31T00:00:00Z" }],
    };
    expect(sendMessage.input.parse(body)).toEqual({
      messages: [{ role: "user", content: "Hello?" }],
      chatId: null,
    });
  });
});
