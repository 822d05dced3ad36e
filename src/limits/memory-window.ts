import type { Blocks } from "./memory-blocks.ts";
import type { RateLimitResult } from "./rate-limit.ts";

// A key's fields, side by side in one array.
const PREVIOUS = 0;
const NEXT = 1;
const OLDEST = 2;
const NEWEST = 3;
const COUNT = 4;
/** How many requests block it; negative while it is in the chain of blocked keys. */
const BLOCKED_FROM = 5;
const FIELDS = 6;

/** The two chains: keys that had requests left after their last decision, and keys that had none. */
const OPEN = 0;
const BLOCKED = 1;
const FIRST_KEY = 2;

/** How many blocked keys are visited in search of one that is free again. */
const MAX_VISITS = 8;

/**
 * Keys counted over windows of one length, each with a queue of the times of its admitted requests. Keys are
 * chained by their newest request, so expired keys are at the front: no timer, no sweep.
 */
export class MemoryWindow {
  /** How many keys have been visited for the sake of others. */
  visits = 0;
  readonly windowMs: number;
  readonly #blocks: Blocks;
  readonly #places = new Map<string, number>();
  readonly #keys: (string | undefined)[] = [];
  readonly #vacant: number[] = [];
  #fields = new Int32Array(64 * FIELDS);
  #end = FIRST_KEY;

  constructor(windowMs: number, blocks: Blocks) {
    this.windowMs = windowMs;
    this.#blocks = blocks;
    for (const chain of [OPEN, BLOCKED]) {
      this.#fields[chain * FIELDS + PREVIOUS] = chain;
      this.#fields[chain * FIELDS + NEXT] = chain;
    }
  }

  get size(): number {
    return this.#places.size;
  }

  /** The index of a key; `undefined` when nothing is counted for it. */
  find(key: string): number | undefined {
    return this.#places.get(key);
  }

  add(key: string): number {
    const index = this.#vacant.pop() ?? this.#end++;
    if (index * FIELDS >= this.#fields.length) this.#grow();
    this.#places.set(key, index);
    this.#keys[index] = key;
    const at = index * FIELDS;
    const position = this.#blocks.take();
    this.#fields[at + OLDEST] = position;
    this.#fields[at + NEWEST] = position;
    this.#fields[at + COUNT] = 0;
    this.#append(index, OPEN);
    return index;
  }

  decide(index: number, limit: number, cost: number, now: number): RateLimitResult {
    const fields = this.#fields;
    const at = index * FIELDS;
    const counted = this.#expire(at, now);
    const total = counted + cost;
    if (total > limit) {
      // Blocked for requests of this cost.
      if ((fields[at + BLOCKED_FROM] as number) > 0) this.#moveToEnd(index, BLOCKED, limit - cost + 1);
      const over = total - limit - 1;
      const blocking = this.#blocks.further(fields[at + OLDEST] as number, over);
      const resetAt = Math.ceil(this.#blocks.timeAt(blocking) + this.windowMs);
      return { allowed: false, remaining: counted < limit ? limit - counted : 0, resetAt };
    }
    let newest = fields[at + NEWEST] as number;
    for (let added = 0; added < cost; added += 1) {
      if (counted + added > 0) newest = this.#blocks.extend(newest);
      this.#blocks.write(newest, now);
    }
    fields[at + NEWEST] = newest;
    fields[at + COUNT] = total;
    this.#moveToEnd(index, total < limit ? OPEN : BLOCKED, limit);
    const resetAt = Math.ceil(this.#blocks.timeAt(fields[at + OLDEST] as number) + this.windowMs);
    return { allowed: true, remaining: limit - total, resetAt };
  }

  /** Removes keys whose last request has expired, two at most. @returns whether there was one */
  removeExpired(now: number): boolean {
    const open = this.#removeFirstExpired(OPEN, now);
    return this.#removeFirstExpired(BLOCKED, now) || open;
  }

  /** Forgets the key with requests left that would expire next. @returns whether there was one */
  forgetOpen(now: number): boolean {
    const first = this.#next(OPEN);
    if (first === OPEN) return this.#unblocked(now, (index) => this.#drop(index)) === 0;
    this.visits += 1;
    this.#drop(first);
    return true;
  }

  /** When one of the longest unused keys is free again; `Infinity` without any. */
  nextUnblockedAt(now: number): number {
    return this.#unblocked(now, () => {});
  }

  /** Passes on the first key found that is free again and returns 0, else returns when one will be. */
  #unblocked(now: number, take: (index: number) => void): number {
    let earliest = Number.POSITIVE_INFINITY;
    let index = this.#next(BLOCKED);
    for (let visit = 0; visit < MAX_VISITS && index !== BLOCKED; visit += 1) {
      this.visits += 1;
      const at = index * FIELDS;
      const over = this.#expire(at, now) + (this.#fields[at + BLOCKED_FROM] as number);
      if (over < 0) {
        take(index);
        return 0;
      }
      const blocking = this.#blocks.further(this.#fields[at + OLDEST] as number, over);
      earliest = Math.min(earliest, this.#blocks.timeAt(blocking) + this.windowMs);
      index = this.#next(index);
    }
    return earliest;
  }

  #removeFirstExpired(chain: number, now: number): boolean {
    const first = this.#next(chain);
    if (first === chain) return false;
    this.visits += 1;
    const newest = this.#blocks.timeAt(this.#fields[first * FIELDS + NEWEST] as number);
    if (newest + this.windowMs > now) return false;
    this.#drop(first);
    return true;
  }

  #drop(index: number): void {
    const at = index * FIELDS;
    this.#unchain(index);
    let position = this.#fields[at + OLDEST] as number;
    for (let remaining = this.#fields[at + COUNT] as number; remaining > 1; remaining -= 1) {
      position = this.#blocks.shorten(position);
    }
    this.#blocks.free(position);
    this.#places.delete(this.#keys[index] as string);
    this.#keys[index] = undefined;
    this.#vacant.push(index);
  }

  /** Half-open: a request at `t` has expired at `t + window`. @returns how many still count */
  #expire(at: number, now: number): number {
    const fields = this.#fields;
    const count = fields[at + COUNT] as number;
    let oldest = fields[at + OLDEST] as number;
    if (count === 0 || this.#blocks.timeAt(oldest) + this.windowMs > now) return count;
    let remaining = count - 1;
    for (; remaining > 0; remaining -= 1) {
      oldest = this.#blocks.shorten(oldest);
      if (this.#blocks.timeAt(oldest) + this.windowMs > now) break;
    }
    fields[at + OLDEST] = oldest;
    fields[at + COUNT] = remaining;
    return remaining;
  }

  #next(index: number): number {
    return this.#fields[index * FIELDS + NEXT] as number;
  }

  #moveToEnd(index: number, chain: number, blockedFrom: number): void {
    const fields = this.#fields;
    if (fields[chain * FIELDS + PREVIOUS] !== index) {
      this.#unchain(index);
      this.#append(index, chain);
    }
    fields[index * FIELDS + BLOCKED_FROM] = chain === BLOCKED ? -blockedFrom : blockedFrom;
  }

  #append(index: number, chain: number): void {
    const fields = this.#fields;
    const last = fields[chain * FIELDS + PREVIOUS] as number;
    fields[last * FIELDS + NEXT] = index;
    fields[index * FIELDS + PREVIOUS] = last;
    fields[index * FIELDS + NEXT] = chain;
    fields[chain * FIELDS + PREVIOUS] = index;
  }

  #unchain(index: number): void {
    const fields = this.#fields;
    const previous = fields[index * FIELDS + PREVIOUS] as number;
    const next = fields[index * FIELDS + NEXT] as number;
    fields[previous * FIELDS + NEXT] = next;
    fields[next * FIELDS + PREVIOUS] = previous;
  }

  #grow(): void {
    const wider = new Int32Array(Math.ceil((this.#fields.length / FIELDS) * 1.25) * FIELDS);
    wider.set(this.#fields);
    this.#fields = wider;
  }
}
