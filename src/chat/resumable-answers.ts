import type { UIMessageChunk } from "ai";
import { type KeptAnswer, keepAnswer } from "./kept-answer.ts";
import type { SharedAnswers } from "./shared-answers.ts";

/** Answers that can be resumed after a connection was lost, the newest one of each conversation. */
export type ResumableAnswers = {
  keep(id: string, source: ReadableStream<UIMessageChunk>): ReadableStream<UIMessageChunk>;
  /** The answer from its start; `null`: none is being written, and every finished one was delivered. */
  resume(id: string): Promise<ReadableStream<UIMessageChunk> | null>;
  close(): void;
};

/**
 * A reload takes seconds. Whoever stays away longer is not coming back, and the model is paid by the word.
 */
const ABANDON_AFTER_MS = 30_000;
const KEPT_MS = 60_000;

/** @param shared `null`: answers can be resumed in this process alone */
export function resumableAnswers(
  shared: SharedAnswers | null,
  { abandonAfterMs = ABANDON_AFTER_MS, keptMs = KEPT_MS } = {},
): ResumableAnswers {
  const answers = new Map<string, KeptAnswer & { isFollowed(): Promise<boolean> }>();

  const keep = (id: string, source: ReadableStream<UIMessageChunk>) => {
    const copy = shared?.begin(id);
    const forget = () => {
      copy?.delivered();
      if (answers.get(id) === answer) answers.delete(id);
    };
    const kept = keepAnswer(source, {
      abandonAfterMs,
      isReadElsewhere: async () => copy !== undefined && (await copy.isRead()),
      onChunk: (chunk) => copy?.append(chunk),
      onEnd: () => {
        copy?.end();
        setTimeout(forget, keptMs).unref();
      },
      onDelivered: forget,
    });
    const answer = { ...kept, isFollowed: async () => copy !== undefined && (await copy.isFollowed()) };
    answers.set(id, answer);
    return answer.read();
  };
  return {
    keep,
    resume: async (id) => {
      const answer = answers.get(id);
      const local = () => answer?.read() ?? null;
      if (shared === null) return local();
      // One that has ended may have been delivered by another process, which may write a later one, too.
      const isNewest =
        answer !== undefined && !answer.isEnded() && !(await answer.isFollowed().catch(() => false));
      return isNewest ? local() : shared.resume(id).catch(local);
    },
    close: () => {
      for (const answer of answers.values()) answer.abort();
    },
  };
}
