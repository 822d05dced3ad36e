import { createHash } from "node:crypto";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { UIMessageChunk } from "ai";
import type { ChatMessage } from "../domain/conversation.ts";
import { refuse } from "../domain/refusals/refusal.ts";
import { type OpenStreams, openStreams } from "../limits/open-streams.ts";
import { openRedis } from "../limits/redis-connection.ts";
import { BROKEN_OFF, type ModelAnswer, startAnswer } from "./answer.ts";
import type { Chat, ChatAttempt } from "./chat.ts";
import { describeFailure } from "./describe-failure.ts";
import { releasedAtEnd } from "./released-at-end.ts";
import { resumableAnswers } from "./resumable-answers.ts";
import { sharedAnswers } from "./shared-answers.ts";

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
  /** Where answers are shared with other processes; empty: each process resumes its own. */
  redisUrls?: readonly string[];
  /** How long the provider may continue without a reader, 30 s by default. */
  abandonAfterMs?: number;
};

const TIMEOUT_MS = 30_000;
const MAX_OPEN_STREAMS = 3;

export function createChat({
  baseUrl,
  apiKey,
  model,
  maxOutputTokens,
  timeoutMs = TIMEOUT_MS,
  redisUrls = [],
  abandonAfterMs,
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
  const resumed = openStreams(MAX_OPEN_STREAMS);
  const redis = redisUrls.length === 0 ? null : openRedis(redisUrls, () => {});
  const shared = redis && sharedAnswers((key, command) => redis.send(key, command));
  const answers = resumableAnswers(shared, abandonAfterMs === undefined ? {} : { abandonAfterMs });

  async function begin(
    messages: readonly ChatMessage[],
    { userId, signal, onFailure }: Omit<ChatAttempt, "chatId">,
  ): Promise<ReadableStream<UIMessageChunk>> {
    const close = take(open, userId);
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
  }

  return {
    stream: async (messages, { chatId, ...attempt }) => {
      if (chatId === null) return begin(messages, attempt);
      const beginning = new AbortController();
      const abort = () => beginning.abort(attempt.signal.reason);
      if (attempt.signal.aborted) abort();
      attempt.signal.addEventListener("abort", abort);
      try {
        const source = await begin(messages, { ...attempt, signal: beginning.signal });
        return answers.keep(answerId(attempt.userId, chatId), source);
      } finally {
        attempt.signal.removeEventListener("abort", abort);
      }
    },
    resume: async (userId, chatId) => {
      const close = take(resumed, userId);
      const stream = await answers.resume(answerId(userId, chatId));
      if (stream === null) close();
      return stream && releasedAtEnd(stream, close);
    },
    close: () => {
      answers.close();
      redis?.close();
    },
  };
}

/** @throws Refusal */
function take(streams: OpenStreams, userId: string): () => void {
  return streams.take(userId) ?? refuse({ reason: "rate_limited", params: { retryAfterSeconds: 1 } });
}

/** Everybody chooses the ids of their conversations. */
function answerId(userId: string, chatId: string): string {
  return createHash("sha256")
    .update(JSON.stringify([userId, chatId]))
    .digest("base64url");
}

function remainderOf(
  answer: ModelAnswer,
  firstChunks: readonly UIMessageChunk[],
  { failed, close }: { failed: (cause: unknown) => void; close: () => void },
): ReadableStream<UIMessageChunk> {
  let isCanceled = false;
  return new ReadableStream<UIMessageChunk>({
    start: (controller) => {
      for (const chunk of firstChunks) controller.enqueue(chunk);
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
        controller.enqueue(BROKEN_OFF);
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
