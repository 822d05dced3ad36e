import type { UIMessageChunk } from "ai";

/** One turn of a conversation. What the operator tells the model is not among them, and never comes from a client. */
export type ChatMessage = { role: "user" | "assistant"; content: string };

export type ChatAttempt = {
  /** Hangs up on the provider, at any time. */
  signal: AbortSignal;
  /** Told, at most once, why there was no answer, or no more of it: a sentence for the operator, without secrets. */
  onFailure(problem: string): void;
};

/** The language model that people talk to. */
export type Chat = {
  /**
   * Asks once, and resolves as soon as the answer has begun. The stream never fails: an answer that breaks off ends with
   * an `error` chunk. Cancelling it hangs up on the provider.
   * @throws Refusal `unavailable` when no answer begins
   */
  stream(messages: readonly ChatMessage[], attempt: ChatAttempt): Promise<ReadableStream<UIMessageChunk>>;
};
