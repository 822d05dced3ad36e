import { createKeyQueue, type Place } from "./key-queue.ts";

export type BatcherOptions<Item, Answer> = {
  /** The keys an item touches. Items with a common key run in order, and never in two groups at once. */
  keysOf(item: Item): readonly string[];
  bytesOf(item: Item): number;
  /** The result of an item that nobody waits for any more; `null`: somebody does. */
  abandoned?(item: Item): Answer | null;
  maxItems: number;
  maxBytes: number;
  maxInFlight: number;
  /** A further group starts only while fewer than these are running and not stalled. */
  maxActive: number;
  /** A group that takes longer counts as stalled, by a lock or a slow disk, and no longer blocks others. */
  stalledAfterMs: number;
  /**
   * Returns one result per item, in order. An item whose result is a promise leaves the group, and keeps its
   * keys until it settles. If it throws, all items fail.
   */
  run(group: readonly Item[], progress: Progress<Answer>): Promise<readonly (Answer | Promise<Answer>)[]>;
};

/** What a group may report while it is running. */
export type Progress<Answer> = {
  /** Lets the next group start. */
  closing(): void;
  /** Answers the item at this place, without waiting for the others. */
  done(index: number, result: Answer | Promise<Answer>): void;
};

export type Batcher<Item, Answer> = {
  submit(item: Item): Promise<Answer>;
  /** The items waiting and running. */
  load(): { items: number; bytes: number };
  /** How long the oldest ready item has been waiting, in milliseconds. */
  delayMs(): number;
  /** Resolves once nothing waits and nothing runs. */
  idle(): Promise<void>;
};

type Entry<Item, Answer> = {
  item: Item;
  keys: readonly string[];
  places: Place<Entry<Item, Answer>>[];
  bytes: number;
  readyAtMs: number;
  isTaken: boolean;
  isDone: boolean;
  resolve(result: Answer): void;
  reject(error: unknown): void;
};

/** Under light load groups are smaller: there nothing waits. */
const LARGE_GROUP = 8;

type Group = { startedAtMs: number; items: number; isClosing: boolean };

/**
 * Group commit: items that wait together run together, in order of arrival where they share a key. An item
 * that finds the batcher idle starts at once, alone; nothing waits to fill a group.
 */
export function createBatcher<Item, Answer>(options: BatcherOptions<Item, Answer>): Batcher<Item, Answer> {
  const queue = createKeyQueue<Entry<Item, Answer>>();
  let ready: Entry<Item, Answer>[] = [];
  const inFlight = new Set<Group>();
  let items = 0;
  let bytes = 0;
  let scheduled = false;
  const idlers: (() => void)[] = [];

  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    // After the events of the same event-loop turn, and no later.
    setImmediate(() => {
      scheduled = false;
      while (ready.length > 0 && mayStart()) {
        const group = nextGroup();
        if (group.length > 0) void runGroup(group);
      }
    });
  }

  function mayStart(): boolean {
    if (inFlight.size >= options.maxInFlight) return false;
    const stalledBefore = performance.now() - options.stalledAfterMs;
    const active = [...inFlight].filter(({ startedAtMs }) => startedAtMs > stalledBefore);
    // Behind a large group that commits, one of less than half its items waits for the commit: each costs as
    // much as twenty items.
    const isWorthwhile = ({ items }: Group) => items < LARGE_GROUP || ready.length >= items / 2;
    return (
      active.length < options.maxActive && active.every((group) => group.isClosing && isWorthwhile(group))
    );
  }

  function nextGroup(): Entry<Item, Answer>[] {
    const group: Entry<Item, Answer>[] = [];
    const before = new Map<Entry<Item, Answer>, number>();
    let groupBytes = 0;
    let takenCount = 0;
    // A share of all: while one group is in PostgreSQL, this process works on another.
    const share = Math.max(LARGE_GROUP, Math.ceil(items / options.maxActive));
    const isFull = (entry: Entry<Item, Answer>) =>
      group.length >= options.maxItems || (group.length > 0 && groupBytes + entry.bytes > options.maxBytes);
    const candidates: Entry<Item, Answer>[] = [];
    for (const next of ready) {
      if (group.length >= share || isFull(next)) break;
      takenCount += 1;
      candidates.push(next);
      for (let entry = candidates.pop(); entry && !isFull(entry); entry = candidates.pop()) {
        if (endAbandoned(entry)) continue;
        entry.isTaken = true;
        group.push(entry);
        groupBytes += entry.bytes;
        candidates.push(...onlyBehind(entry, before));
      }
      candidates.length = 0;
    }
    ready = ready.slice(takenCount);
    return group;
  }

  /** Items that wait only for members of this group: they may join it, behind them. */
  function onlyBehind(entry: Entry<Item, Answer>, before: Map<Entry<Item, Answer>, number>) {
    return queue.successors(entry).filter((successor) => {
      const count = (before.get(successor) ?? 0) + 1;
      before.set(successor, count);
      return count === queue.predecessors(successor);
    });
  }

  function endAbandoned(entry: Entry<Item, Answer>): boolean {
    const result = options.abandoned?.(entry.item) ?? null;
    if (result === null) return false;
    entry.resolve(result);
    finish(entry);
    return true;
  }

  async function runGroup(entries: readonly Entry<Item, Answer>[]): Promise<void> {
    const group: Group = { startedAtMs: performance.now(), items: entries.length, isClosing: false };
    inFlight.add(group);
    const overtaking = setTimeout(schedule, options.stalledAfterMs + 1);
    const closing = () => {
      group.isClosing = true;
      if (ready.length > 0) schedule();
    };
    const done = (index: number, result: Answer | Promise<Answer>) => {
      const entry = entries[index] as Entry<Item, Answer>;
      if (entry.isDone) return;
      entry.isDone = true;
      if (result instanceof Promise) void result.then(entry.resolve, entry.reject).then(() => finish(entry));
      else {
        entry.resolve(result);
        finish(entry);
      }
    };
    try {
      const results = await options.run(
        entries.map((entry) => entry.item),
        { closing, done },
      );
      for (const index of entries.keys()) done(index, results[index] as Answer | Promise<Answer>);
    } catch (error) {
      for (const [index, { isDone }] of entries.entries()) if (!isDone) done(index, Promise.reject(error));
    }
    clearTimeout(overtaking);
    inFlight.delete(group);
    if (ready.length > 0) schedule();
    resolveIdle();
  }

  function finish(entry: Entry<Item, Answer>): void {
    items -= 1;
    bytes -= entry.bytes;
    // A member may be freed while its own group is still running.
    const freed = queue.leave(entry).filter((candidate) => !candidate.isTaken);
    if (freed.length > 0) {
      const readyAtMs = performance.now();
      for (const freedEntry of freed) freedEntry.readyAtMs = readyAtMs;
      ready.push(...freed);
      schedule();
    }
    resolveIdle();
  }

  function resolveIdle(): void {
    if (items === 0 && inFlight.size === 0) for (const resolve of idlers.splice(0)) resolve();
  }

  return {
    submit: (item) =>
      new Promise((resolve, reject) => {
        const entry: Entry<Item, Answer> = {
          item,
          keys: options.keysOf(item),
          places: [],
          bytes: options.bytesOf(item),
          readyAtMs: performance.now(),
          isTaken: false,
          isDone: false,
          resolve,
          reject,
        };
        items += 1;
        bytes += entry.bytes;
        if (!queue.enter(entry)) return;
        ready.push(entry);
        schedule();
      }),
    load: () => ({ items, bytes }),
    delayMs: () => (ready[0] ? performance.now() - ready[0].readyAtMs : 0),
    idle: () =>
      items === 0 && inFlight.size === 0 ? Promise.resolve() : new Promise((resolve) => idlers.push(resolve)),
  };
}
