import type { ReceivedOutcome } from "../incoming-event.ts";

/**
 * The events that this process is working on, by `keyOf`. Concurrent copies wait for the first one's outcome.
 */
export type InProcess = {
  share(
    key: string,
    start: (isAwaited: () => boolean) => Promise<ReceivedOutcome>,
  ): PendingResult<ReceivedOutcome>;
};

/** A pending result, and a way to cancel waiting for it. */
export type PendingResult<Result> = { result: Promise<Result>; stopWaiting(): void };

type Work = { result: Promise<ReceivedOutcome>; waiting: number };

export function createInProcess(): InProcess {
  const works = new Map<string, Work>();
  return {
    share(key, start) {
      const running = works.get(key);
      if (running) {
        running.waiting += 1;
        return { result: running.result.then(asCopy), stopWaiting: stopWaiting(running) };
      }
      const work: Work = { result: Promise.resolve({ outcome: "unavailable" }), waiting: 1 };
      work.result = start(() => work.waiting > 0).finally(() => works.delete(key));
      works.set(key, work);
      return { result: work.result, stopWaiting: stopWaiting(work) };
    },
  };
}

function stopWaiting(work: Work): () => void {
  return () => {
    work.waiting -= 1;
  };
}

function asCopy(first: ReceivedOutcome): ReceivedOutcome {
  return first.outcome === "applied" || first.outcome === "ignored" ? { outcome: "duplicate" } : first;
}
