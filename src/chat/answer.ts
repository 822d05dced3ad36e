import { type LanguageModel, streamText, toUIMessageStream, type UIMessageChunk } from "ai";
import type { ChatMessage } from "../domain/conversation.ts";

/** A model's answer while it is streamed. */
export type ModelAnswer = {
  /** Everything up to the first words, or to the end of an empty answer. @throws the provider's error */
  readBeginning(): Promise<UIMessageChunk[]>;
  /** `null` at the end. @throws the provider's error */
  readNext(): Promise<UIMessageChunk | null>;
  abort(): void;
};

/** How an answer ends that breaks off. */
export const BROKEN_OFF: UIMessageChunk = {
  type: "error",
  errorText: "The answer broke off. Please try again.",
};

/** The provider has sent nothing within the timeout. */
export class ProviderSilent extends Error {
  override name = "ProviderSilent";
}

export function startAnswer(
  model: LanguageModel,
  messages: readonly ChatMessage[],
  { signal, timeoutMs, maxOutputTokens }: { signal: AbortSignal; timeoutMs: number; maxOutputTokens: number },
): ModelAnswer {
  const ours = new AbortController();
  let cause: unknown;
  const { stream } = streamText({
    model,
    messages: [...messages],
    // A retry would be paid twice while the user waits; the page offers one.
    maxRetries: 0,
    maxOutputTokens,
    abortSignal: AbortSignal.any([signal, ours.signal]),
    // The default prints the error with the conversation.
    onError: () => {},
  });
  const chunks = toUIMessageStream({
    stream,
    onError: (error) => {
      cause ??= error;
      return "";
    },
  }).getReader();

  const readChunk = async (): Promise<UIMessageChunk | null> => {
    for (;;) {
      const { done, value } = await chunks.read();
      if (done) return null;
      if (value.type === "error") throw cause;
      if (value.type === "abort") throw ours.signal.aborted ? ours.signal.reason : signal.reason;
      if (SHOWN.has(value.type)) return value;
    }
  };
  const withTimeout = async <Result>(reading: () => Promise<Result>): Promise<Result> => {
    const timer = setTimeout(() => ours.abort(new ProviderSilent(`silent for ${timeoutMs} ms`)), timeoutMs);
    try {
      return await reading();
    } finally {
      clearTimeout(timer);
    }
  };
  return {
    readBeginning: () => withTimeout(() => beginning(readChunk)),
    readNext: () => withTimeout(readChunk),
    abort: () => ours.abort(),
  };
}

async function beginning(readChunk: () => Promise<UIMessageChunk | null>): Promise<UIMessageChunk[]> {
  const chunks: UIMessageChunk[] = [];
  for (;;) {
    const chunk = await readChunk();
    if (chunk === null) return chunks;
    chunks.push(chunk);
    if (CONTENT_CHUNKS.has(chunk.type)) return chunks;
  }
}

const CONTENT_CHUNKS: ReadonlySet<string> = new Set<UIMessageChunk["type"]>([
  "text-delta",
  "reasoning-delta",
  "finish",
]);

/** Text and its frame. Tool calls are dropped: there are no tools. */
const SHOWN: ReadonlySet<string> = new Set<UIMessageChunk["type"]>([
  "start",
  "start-step",
  "text-start",
  "text-delta",
  "text-end",
  "reasoning-start",
  "reasoning-delta",
  "reasoning-end",
  "finish-step",
  "finish",
]);
