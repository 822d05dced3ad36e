import type { RateLimitResult } from "./rate-limit.ts";
import type { Batched } from "./redis-script.ts";

/** One call that waits for its decision. */
export type Waiting = {
  resolve(decision: RateLimitResult): void;
  reject(error: unknown): void;
  permit: "yes" | "probe";
};

/** Calls for one key under one policy. */
export type Entry = Batched & { key: string; node: string; waiting: Waiting[]; next: Entry | null };

/** Redis does nothing else while it runs a script, which takes a few milliseconds for this many keys. */
const MAX_KEYS = 256;

type CallCollectorOptions = {
  /** Whether one command can hold several keys. */
  canShare: () => boolean;
  send: (entries: readonly Entry[]) => void;
};

/**
 * Collects the calls of one turn of the event loop and sends them together. Repeated calls for one key under
 * one policy become one entry, in the order in which they were made.
 */
export class CallCollector {
  readonly #options: CallCollectorOptions;
  #entries = new Map<string, Entry>();

  constructor(options: CallCollectorOptions) {
    this.#options = options;
  }

  add(key: string, node: string, request: Omit<Batched, "times">, waiting: Waiting): void {
    if (this.#entries.size === 0) setImmediate(() => this.#flush());
    const { redisKey, limit, cost } = request;
    const first = this.#entries.get(redisKey) ?? null;
    const repeated = cost === 1 ? sameLimit(first, limit) : null;
    if (repeated) {
      repeated.times += 1;
      repeated.waiting.push(waiting);
      return;
    }
    const added: Entry = { ...request, times: 1, key, node, waiting: [waiting], next: null };
    if (first === null) this.#entries.set(redisKey, added);
    else lastOf(first).next = added;
  }

  #flush(): void {
    const entries: Entry[] = [];
    for (const first of this.#entries.values()) {
      for (let entry: Entry | null = first; entry; entry = entry.next) entries.push(entry);
    }
    this.#entries = new Map();
    const size = this.#options.canShare() ? MAX_KEYS : 1;
    for (let from = 0; from < entries.length; from += size) {
      this.#options.send(entries.slice(from, from + size));
    }
  }
}

function lastOf(first: Entry): Entry {
  let entry = first;
  while (entry.next) entry = entry.next;
  return entry;
}

function sameLimit(first: Entry | null, limit: number): Entry | null {
  let entry = first;
  while (entry && !(entry.limit === limit && entry.cost === 1)) entry = entry.next;
  return entry;
}
