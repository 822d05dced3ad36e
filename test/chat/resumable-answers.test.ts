import type { UIMessageChunk } from "ai";
import { expect, it } from "vitest";
import { resumableAnswers } from "../../src/chat/resumable-answers.ts";

it("keeps the newest answer of a conversation when an earlier one has been read to its end", async () => {
  const answers = resumableAnswers(null);
  const ended = new ReadableStream<UIMessageChunk>({ start: (controller) => controller.close() });
  const earlier = answers.keep("chat-1", ended);
  answers.keep("chat-1", new ReadableStream<UIMessageChunk>());
  expect(await Array.fromAsync(earlier)).toEqual([]);
  expect(await answers.resume("chat-1")).not.toBeNull();
  answers.close();
});
