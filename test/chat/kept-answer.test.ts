import type { UIMessageChunk } from "ai";
import { expect, it } from "vitest";
import { keepAnswer } from "../../src/chat/kept-answer.ts";

it("goes on for a reader who comes back while other processes are asked for theirs", async () => {
  let isCanceled = false;
  let source = undefined as unknown as ReadableStreamDefaultController<UIMessageChunk>;
  const stream = new ReadableStream<UIMessageChunk>({
    start: (controller) => {
      source = controller;
    },
    cancel: () => {
      isCanceled = true;
    },
  });
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<boolean>();
  const kept = keepAnswer(stream, {
    abandonAfterMs: 1,
    isReadElsewhere: () => {
      asked.resolve();
      return answer.promise;
    },
    onChunk: () => {},
    onEnd: () => {},
    onDelivered: () => {},
  });
  await kept.read().cancel();
  await asked.promise;
  const reader = kept.read().getReader();
  answer.resolve(false);
  await new Promise(setImmediate);
  expect(isCanceled).toBe(false);
  const words: UIMessageChunk = { type: "text-delta", id: "1", delta: "Fine" };
  source.enqueue(words);
  expect((await reader.read()).value).toEqual(words);
});

it("is given up where it cannot be asked whether other processes read it", async () => {
  const canceled = Promise.withResolvers<void>();
  const kept = keepAnswer(new ReadableStream<UIMessageChunk>({ cancel: () => canceled.resolve() }), {
    abandonAfterMs: 1,
    isReadElsewhere: () => Promise.reject(new Error("no Redis")),
    onChunk: () => {},
    onEnd: () => {},
    onDelivered: () => {},
  });
  await kept.read().cancel();
  await canceled.promise;
});
