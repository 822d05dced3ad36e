import type { UIMessageChunk } from "ai";

/**
 * An answer that is read from the model whether or not somebody reads it here, and can be read from its start
 * again.
 */
export type KeptAnswer = {
  /** From its start, then as it arrives. */
  read(): ReadableStream<UIMessageChunk>;
  isEnded(): boolean;
  abort(): void;
};

export type KeptAnswerOptions = {
  /** How long the model may continue without a reader. */
  abandonAfterMs: number;
  onChunk(chunk: UIMessageChunk): void;
  /** Whether another process reads it, so that it is not abandoned. */
  isReadElsewhere(): Promise<boolean>;
  /** Called once: when the answer is complete, broken off or aborted. */
  onEnd(): void;
  /** Called each time that a reader in this process has reached its end. */
  onDelivered(): void;
};

export function keepAnswer(
  source: ReadableStream<UIMessageChunk>,
  { abandonAfterMs, onChunk, isReadElsewhere, onEnd, onDelivered }: KeptAnswerOptions,
): KeptAnswer {
  const chunks: UIMessageChunk[] = [];
  const reader = source.getReader();
  let arrival = Promise.withResolvers<void>();
  let readers = 0;
  let isEnded = false;
  let abandoning: NodeJS.Timeout | undefined;

  const abandonLater = () => {
    clearTimeout(abandoning);
    if (readers > 0 || isEnded) return;
    abandoning = setTimeout(async () => {
      if (await isReadElsewhere().catch(() => false)) abandonLater();
      else if (readers === 0) await reader.cancel();
    }, abandonAfterMs).unref();
  };
  const pump = async () => {
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        chunks.push(value);
        onChunk(value);
        arrival.resolve();
        arrival = Promise.withResolvers();
      }
    } finally {
      isEnded = true;
      clearTimeout(abandoning);
      arrival.resolve();
      onEnd();
    }
  };
  void pump().catch(() => {});

  const read = () => {
    let next = 0;
    let isOpen = true;
    readers += 1;
    clearTimeout(abandoning);
    const leave = () => {
      if (!isOpen) return;
      isOpen = false;
      readers -= 1;
      abandonLater();
    };
    return new ReadableStream<UIMessageChunk>({
      pull: async (controller) => {
        while (isOpen && next >= chunks.length && !isEnded) await arrival.promise;
        if (!isOpen) return;
        const chunk = chunks[next];
        if (chunk !== undefined) {
          next += 1;
          return controller.enqueue(chunk);
        }
        leave();
        onDelivered();
        controller.close();
      },
      cancel: leave,
    });
  };
  return {
    read,
    isEnded: () => isEnded,
    abort: () => void reader.cancel().catch(() => {}),
  };
}
