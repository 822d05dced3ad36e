import type { UIMessageChunk } from "ai";
import type { ChatMessage } from "../domain/conversation.ts";

export type ChatAttempt = {
  /** Only a few answers are open at once per user. */
  userId: string;
  /** Aborts the request to the provider. */
  signal: AbortSignal;
  /** Called at most once, with why the answer failed or broke off: a sentence for the log, without secrets. */
  onFailure(problem: string): void;
};

/** The language model that people talk to. */
export type Chat = {
  /**
   * Asks once, and resolves when the answer begins. The stream never fails: an answer that breaks off ends with an
   * `error` chunk. Cancelling it aborts the request to the provider.
   * @throws Refusal `unavailable` when no answer begins
   */
  stream(messages: readonly ChatMessage[], attempt: ChatAttempt): Promise<ReadableStream<UIMessageChunk>>;
};
