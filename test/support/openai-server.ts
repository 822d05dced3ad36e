import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { startHttpServer } from "./http.ts";

/** One call to the model, which the test answers as it likes. */
export type Exchange = {
  path: string;
  headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: as it was sent
  body: any;
  response: ServerResponse;
  /** Resolves when the client has closed the connection before the answer was over. */
  hungUp: Promise<void>;
  /** One chunk with these words. */
  say(words: string): void;
  /** One chunk with this delta. */
  delta(delta: object, finishReason?: string | null): void;
  /** One event with this text as its data. */
  send(data: string): void;
  /** The last chunks of a complete answer. */
  finish(finishReason?: string): void;
};

export type OpenAiServer = {
  /** To be configured as `AI_BASE_URL`. */
  baseUrl: string;
  exchanges: Exchange[];
  /** Sets how calls are answered from now on. */
  answer(answer: (exchange: Exchange) => void | Promise<void>): void;
  close(): Promise<void>;
};

/** A local server that speaks OpenAI's chat completions protocol, streaming. */
export async function openAiServer(): Promise<OpenAiServer> {
  const exchanges: Exchange[] = [];
  let answer: (exchange: Exchange) => void | Promise<void> = () => {};
  const server = await startHttpServer(async (incoming, response) => {
    const exchange = exchangeOf(incoming.url ?? "", incoming.headers, await text(incoming), response);
    exchanges.push(exchange);
    await answer(exchange);
  });
  return {
    baseUrl: `${server.url}/v1`,
    exchanges,
    answer: (next) => {
      answer = next;
    },
    close: server.close,
  };
}

function exchangeOf(
  path: string,
  headers: IncomingHttpHeaders,
  body: string,
  response: ServerResponse,
): Exchange {
  const send = (data: string) => {
    if (!response.headersSent) response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`data: ${data}\n\n`);
  };
  const delta = (delta: object, finishReason: string | null = null) =>
    send(
      JSON.stringify({
        id: "chatcmpl-1",
        object: "chat.completion.chunk",
        created: 1_700_000_000,
        model: "model-as-served",
        choices: [{ index: 0, delta, finish_reason: finishReason }],
      }),
    );
  return {
    path,
    headers,
    body: JSON.parse(body),
    response,
    hungUp: new Promise((hungUp) => {
      response.once("close", () => {
        if (!response.writableFinished) hungUp();
      });
    }),
    send,
    delta,
    say: (words) => delta({ role: "assistant", content: words }),
    finish: (finishReason = "stop") => {
      delta({}, finishReason);
      send("[DONE]");
      response.end();
    },
  };
}
