import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { UIMessageChunk } from "ai";
import { refuse } from "../domain/refusal.ts";
import { type Answer, ask } from "./answer.ts";
import type { Chat } from "./chat.ts";
import { problemOf } from "./problem.ts";

type ChatOptions = {
  /** Of an endpoint that speaks OpenAI's chat completions, e.g. `https://api.example.com/v1`. */
  baseUrl: string;
  /** `null` for endpoints that want none, such as a model of one's own. */
  apiKey: string | null;
  model: string;
  /** How long the provider may take to begin, and how long it may pause afterwards. */
  patienceMs?: number;
};

const PATIENCE_MS = 30_000;

export function createChat({ baseUrl, apiKey, model, patienceMs = PATIENCE_MS }: ChatOptions): Chat {
  const provider = createOpenAICompatible({
    name: "provider",
    baseURL: baseUrl,
    // Nobody who takes over the endpoint's name is to send our conversations, or us, anywhere else.
    fetch: (input, init) => fetch(input, { ...init, redirect: "error" }),
    ...(apiKey === null ? {} : { apiKey }),
  });
  const languageModel = provider.chatModel(model);
  return {
    stream: async (messages, { signal, onFailure }) => {
      const answer = ask(languageModel, messages, { signal, patienceMs });
      const failed = (cause: unknown) => {
        answer.hangUp();
        // Who has gone away is no failure of the provider's.
        if (!signal.aborted) onFailure(problemOf(cause));
      };
      try {
        return remainderOf(answer, await answer.begin(), failed);
      } catch (error) {
        failed(error);
        return refuse("unavailable", "The assistant cannot be reached. Please try again later.");
      }
    },
  };
}

function remainderOf(
  answer: Answer,
  begun: readonly UIMessageChunk[],
  failed: (cause: unknown) => void,
): ReadableStream<UIMessageChunk> {
  let left = false;
  return new ReadableStream<UIMessageChunk>({
    start: (controller) => {
      for (const chunk of begun) controller.enqueue(chunk);
    },
    pull: async (controller) => {
      try {
        const chunk = await answer.next();
        if (chunk === null) controller.close();
        else controller.enqueue(chunk);
      } catch (error) {
        if (left) return;
        failed(error);
        controller.enqueue({ type: "error", errorText: "The answer broke off. Please try again." });
        controller.close();
      }
    },
    cancel: () => {
      left = true;
      answer.hangUp();
    },
  });
}
