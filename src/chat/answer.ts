import { type LanguageModel, streamText, toUIMessageStream, type UIMessageChunk } from "ai";
import type { ChatMessage } from "./chat.ts";

/** One answer of a model while it is being given. */
export type Answer = {
  /** Everything up to the first words, or to the end of an answer that has none. @throws whatever went wrong */
  begin(): Promise<UIMessageChunk[]>;
  /** `null` at the end. @throws whatever went wrong */
  next(): Promise<UIMessageChunk | null>;
  hangUp(): void;
};

/** The provider has sent nothing for as long as it is waited for. */
export class Silence extends Error {
  override name = "Silence";
}

export function ask(
  model: LanguageModel,
  messages: readonly ChatMessage[],
  { signal, patienceMs }: { signal: AbortSignal; patienceMs: number },
): Answer {
  const ours = new AbortController();
  let cause: unknown;
  const { stream } = streamText({
    model,
    messages: [...messages],
    // A second try would be paid twice, while the person waits; the page offers one.
    maxRetries: 0,
    abortSignal: AbortSignal.any([signal, ours.signal]),
    // Printed otherwise, conversation included.
    onError: () => {},
  });
  const chunks = toUIMessageStream({
    stream,
    onError: (error) => {
      cause ??= error;
      return "";
    },
  }).getReader();

  const read = async (): Promise<UIMessageChunk | null> => {
    for (;;) {
      const { done, value } = await chunks.read();
      if (done) return null;
      if (value.type === "error") throw cause;
      if (value.type === "abort") throw ours.signal.aborted ? ours.signal.reason : signal.reason;
      if (SHOWN.has(value.type)) return value;
    }
  };
  const patiently = async <Result>(reading: () => Promise<Result>): Promise<Result> => {
    const timer = setTimeout(() => ours.abort(new Silence(`silent for ${patienceMs} ms`)), patienceMs);
    try {
      return await reading();
    } finally {
      clearTimeout(timer);
    }
  };
  return {
    begin: () => patiently(() => beginning(read)),
    next: () => patiently(read),
    hangUp: () => ours.abort(),
  };
}

async function beginning(read: () => Promise<UIMessageChunk | null>): Promise<UIMessageChunk[]> {
  const chunks: UIMessageChunk[] = [];
  for (;;) {
    const chunk = await read();
    if (chunk === null) return chunks;
    chunks.push(chunk);
    if (BEGUN.has(chunk.type)) return chunks;
  }
}

const BEGUN: ReadonlySet<string> = new Set<UIMessageChunk["type"]>([
  "text-delta",
  "reasoning-delta",
  "finish",
]);

/** Text and the frame around it. There are no tools, whatever a provider may send. */
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
