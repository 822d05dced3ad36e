import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { UIMessageChunk } from "ai";
import { BROKEN_OFF } from "./answer.ts";

/** Runs one command of Redis about this key. */
export type SendCommand = (key: string, command: string[]) => Promise<unknown>;

type SharedAnswer = {
  append(chunk: UIMessageChunk): void;
  end(): void;
  /** A reader has received all of it: other readers may finish, but nobody can resume it any more. */
  delivered(): void;
  /** Whether another process is reading it. */
  isRead(): Promise<boolean>;
  /** Whether a later answer of its conversation can be resumed, perhaps of another process. */
  isFollowed(): Promise<boolean>;
};

/** Answers in Redis, where other processes read them while they are written. */
export type SharedAnswers = {
  /** A new answer of this conversation: the one before cannot be resumed any more. */
  begin(id: string): SharedAnswer;
  /** `null`: there is none. */
  resume(id: string): Promise<ReadableStream<UIMessageChunk> | null>;
};

const POLL_MS = 100;
/** After the last chunk: a process that died leaves nothing behind. */
const KEPT_MS = 60_000;
const LONGEST_ANSWER_MS = 3_600_000;
/** How long a reader counts as present after each poll. */
const PRESENT_MS = 10_000;

export function sharedAnswers(send: SendCommand): SharedAnswers {
  const run = (name: string, key: string, ...values: string[]) => send(key, [name, key, ...values]);
  const pointerOf = (id: string) => `tollgate:chat:${id}`;
  const readerOf = (key: string) => `${key}:reader`;
  const entriesAfter = async (key: string, position: string | null) =>
    (await run("XRANGE", key, position === null ? "-" : `(${position}`, "+")) as Entry[];

  /** Its entries expire by themselves. */
  const forget = async (id: string, key: string) => {
    if ((await run("GET", pointerOf(id))) === key) await run("DEL", pointerOf(id));
  };

  const begin = (id: string): SharedAnswer => {
    const key = `${pointerOf(id)}:${randomUUID()}`;
    // One command after the other. After one that fails the answer is no longer shared: it would have a gap.
    let isBroken = false;
    let count = 0;
    let writing: Promise<unknown> = Promise.resolve();
    const write = (command: () => Promise<unknown>) => {
      writing = writing
        .then(() => (isBroken ? undefined : command()))
        .catch(() => {
          isBroken = true;
        });
    };
    const append = (chunk: UIMessageChunk | null) => {
      const entryId = `${NUMBERED}${++count}`;
      write(() => run("XADD", key, entryId, "chunk", JSON.stringify(chunk)));
      write(() => run("PEXPIRE", key, String(KEPT_MS)));
    };
    write(() => run("SET", pointerOf(id), key, "PX", String(LONGEST_ANSWER_MS)));
    return {
      append,
      end: () => append(null),
      delivered: () => write(() => forget(id, key)),
      isRead: async () => (await run("EXISTS", readerOf(key))) === 1,
      isFollowed: async () => {
        // Until it is stored itself, the answer before it is found.
        await writing;
        const newest = isBroken ? null : await run("GET", pointerOf(id));
        return typeof newest === "string" && newest !== key;
      },
    };
  };

  async function* chunksOf(key: string, firstEntries: readonly Entry[], signal: AbortSignal) {
    let entries = firstEntries;
    let position: string | null = null;
    for (;;) {
      for (const [entryId, [, json = "null"]] of entries) {
        if (!isNext(entryId, position)) throw new Error("a part of the answer is lost");
        position = entryId;
        const chunk = JSON.parse(json) as UIMessageChunk | null;
        if (chunk === null) return;
        yield chunk;
      }
      await run("SET", readerOf(key), "1", "PX", String(PRESENT_MS));
      await sleep(POLL_MS, undefined, { signal });
      entries = await entriesAfter(key, position);
      if (entries.length === 0 && (await run("EXISTS", key)) !== 1) throw new Error("the answer is gone");
    }
  }

  return {
    begin,
    resume: async (id) => {
      const key = await run("GET", pointerOf(id));
      if (typeof key !== "string") return null;
      const entries = await entriesAfter(key, null);
      if (entries.length === 0) return null;
      const cancellation = new AbortController();
      const chunks = chunksOf(key, entries, cancellation.signal);
      return new ReadableStream<UIMessageChunk>({
        pull: async (controller) => {
          try {
            const { done, value } = await chunks.next();
            if (!done) return controller.enqueue(value);
            await forget(id, key);
            controller.close();
          } catch {
            if (cancellation.signal.aborted) return;
            controller.enqueue(BROKEN_OFF);
            controller.close();
          }
        },
        cancel: () => cancellation.abort(),
      });
    },
  };
}

/** The id of a stream's entry, and its fields with their values. */
type Entry = [string, string[]];

/** Begins the ids of entries that are numbered from 1; those that older servers have written begin with a time. */
const NUMBERED = "0-";

/** Redis may have dropped what came before for want of memory, or lost it in a failover. */
function isNext(entryId: string, position: string | null): boolean {
  const numberOf = (id: string) => Number(id.slice(NUMBERED.length));
  if (!entryId.startsWith(NUMBERED)) return true;
  return numberOf(entryId) === (position === null ? 1 : numberOf(position) + 1);
}
