import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { UIMessageChunk } from "ai";
import { refuse } from "../domain/refusal.ts";
import { openStreams } from "../limits/open-streams.ts";
import { type ModelAnswer, startAnswer } from "./answer.ts";
import type { Chat } from "./chat.ts";
import { describeFailure } from "./describe-failure.ts";

type ChatOptions = {
  /** An endpoint compatible with OpenAI's chat completions, e.g. `https://api.example.com/v1`. */
  baseUrl: string;
  /** `null` for endpoints without keys, such as a local model. */
  apiKey: string | null;
  model: string;
  /** Of one answer. */
  maxOutputTokens: number;
  /** How long the provider may take to begin, and to pause afterwards. */
  timeoutMs?: number;
};

const TIMEOUT_MS = 30_000;
const MAX_OPEN_STREAMS = 3;

export function createChat({
  baseUrl,
  apiKey,
  model,
  maxOutputTokens,
  timeoutMs = TIMEOUT_MS,
}: ChatOptions): Chat {
  const provider = createOpenAICompatible({
    name: "provider",
    baseURL: baseUrl,
    // A redirect could send conversations to another host.
    fetch: (input, init) => fetch(input, { ...init, redirect: "error" }),
    ...(apiKey === null ? {} : { apiKey }),
  });
  const languageModel = provider.chatModel(model);
  const open = openStreams(MAX_OPEN_STREAMS);
  return {
    stream: async (messages, { userId, signal, onFailure }) => {
      const close = open.take(userId) ?? refuse({ reason: "rate_limited", params: { retryAfterSeconds: 1 } });
      const answer = startAnswer(languageModel, messages, { signal, timeoutMs, maxOutputTokens });
      const failed = (cause: unknown) => {
        answer.abort();
        // A user who leaves is not a failure of the provider.
        if (!signal.aborted) onFailure(describeFailure(cause));
      };
      try {
        return remainderOf(answer, await answer.readBeginning(), { failed, close });
      } catch (error) {
        close();
        failed(error);
        return refuse({ reason: "chat_unavailable" });
      }
    },
  };
}

function remainderOf(
  answer: ModelAnswer,
  begun: readonly UIMessageChunk[],
  { failed, close }: { failed: (cause: unknown) => void; close: () => void },
): ReadableStream<UIMessageChunk> {
  let isCanceled = false;
  return new ReadableStream<UIMessageChunk>({
    start: (controller) => {
      for (const chunk of begun) controller.enqueue(chunk);
    },
    pull: async (controller) => {
      try {
        const chunk = await answer.readNext();
        if (chunk !== null) return controller.enqueue(chunk);
        close();
        controller.close();
      } catch (error) {
        close();
        if (isCanceled) return;
        failed(error);
        controller.enqueue({ type: "error", errorText: "The answer broke off. Please try again." });
        controller.close();
      }
    },
    cancel: () => {
      isCanceled = true;
      close();
      answer.abort();
    },
  });
}
