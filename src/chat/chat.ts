import type { UIMessageChunk } from "ai";
import type { ChatMessage } from "../domain/conversation.ts";

export type ChatAttempt = {
  /** Only a few answers are open at once per user. */
  userId: string;
  /** Of the conversation, by which its answer can be resumed; `null`: it cannot. */
  chatId: string | null;
  /** Aborts the request to the provider; only until the answer begins when it can be resumed. */
  signal: AbortSignal;
  /**
   * Called at most once, with why the answer failed or broke off: a sentence for the log, without secrets.
   */
  onFailure(problem: string): void;
};

/** The language model that people talk to. */
export type Chat = {
  /**
   * Asks once, and resolves when the answer begins. The stream never fails: an answer that breaks off ends
   * with an `error` chunk. Cancelling it aborts the request to the provider, at once or, when it can be
   * resumed, after 30 s.
   * @throws Refusal `unavailable` when no answer begins
   */
  stream(messages: readonly ChatMessage[], attempt: ChatAttempt): Promise<ReadableStream<UIMessageChunk>>;
  /**
   * The answer of this conversation, from its start; `null` when none is being written.
   * @throws Refusal `rate_limited` when the user reads too many
   */
  resume(userId: string, chatId: string): Promise<ReadableStream<UIMessageChunk> | null>;
  /** Aborts the answers that are being written. */
  close(): void;
};
