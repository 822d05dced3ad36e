import type { Blocks } from "./memory-blocks.ts";
import type { Decision } from "./rate-limit.ts";

// A key's fields, side by side in one array.
const PREVIOUS = 0;
const NEXT = 1;
const OLDEST = 2;
const NEWEST = 3;
const COUNT = 4;
/** At how many requests it counts as blocked; negated while it is in the chain of the blocked. */
const BLOCKED_FROM = 5;
const FIELDS = 6;

/** The two chains: keys that had requests left when they were last decided on, and keys that had not. */
const OPEN = 0;
const BLOCKED = 1;
const FIRST_KEY = 2;

/** How many of the blocked keys are looked at for one whose time has come. */
const LOOKED_AT = 8;

/**
 * Keys counted over windows of one length: each has a queue of the times at which its requests were admitted. Keys
 * are chained in the order of their newest request, so whatever has run out is at the front: no timer, no sweep.
 */
export class MemoryWindow {
  /** How many keys have been looked at for the sake of others. */
  looks = 0;
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

  /** Where the key is kept; `undefined` when nothing is counted for it. */
  placeOf(key: string): number | undefined {
    return this.#places.get(key);
  }

  add(key: string): number {
    const place = this.#vacant.pop() ?? this.#end++;
    if (place * FIELDS >= this.#fields.length) this.#grow();
    this.#places.set(key, place);
    this.#keys[place] = key;
    const at = place * FIELDS;
    const position = this.#blocks.take();
    this.#fields[at + OLDEST] = position;
    this.#fields[at + NEWEST] = position;
    this.#fields[at + COUNT] = 0;
    this.#append(place, OPEN);
    return place;
  }

  decide(place: number, limit: number, cost: number, now: number): Decision {
    const fields = this.#fields;
    const at = place * FIELDS;
    const counted = this.#letGo(at, now);
    const total = counted + cost;
    if (total > limit) {
      // What is left is too little for this cost: for the likes of it, the key is blocked.
      if ((fields[at + BLOCKED_FROM] as number) > 0) this.#moveToEnd(place, BLOCKED, limit - cost + 1);
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
    this.#moveToEnd(place, total < limit ? OPEN : BLOCKED, limit);
    const resetAt = Math.ceil(this.#blocks.timeAt(fields[at + OLDEST] as number) + this.windowMs);
    return { allowed: true, remaining: limit - total, resetAt };
  }

  /** Lets go of keys whose last request has left, two at most. @returns whether there was one */
  dropRunOut(now: number): boolean {
    const open = this.#dropFirstRunOut(OPEN, now);
    return this.#dropFirstRunOut(BLOCKED, now) || open;
  }

  /** Forgets the key that has requests left and is the next to run out. @returns whether there was one */
  forgetOpen(now: number): boolean {
    const first = this.#next(OPEN);
    if (first === OPEN) return this.#unblocked(now, (place) => this.#drop(place)) === 0;
    this.looks += 1;
    this.#drop(first);
    return true;
  }

  /** When one of the longest unused keys stops being blocked; `Infinity` without any. */
  nextUnblockedAt(now: number): number {
    return this.#unblocked(now, () => {});
  }

  /** Hands on the first key found that is no longer blocked and returns 0, else the time at which one will be. */
  #unblocked(now: number, take: (place: number) => void): number {
    let earliest = Number.POSITIVE_INFINITY;
    let place = this.#next(BLOCKED);
    for (let look = 0; look < LOOKED_AT && place !== BLOCKED; look += 1) {
      this.looks += 1;
      const at = place * FIELDS;
      const over = this.#letGo(at, now) + (this.#fields[at + BLOCKED_FROM] as number);
      if (over < 0) {
        take(place);
        return 0;
      }
      const blocking = this.#blocks.further(this.#fields[at + OLDEST] as number, over);
      earliest = Math.min(earliest, this.#blocks.timeAt(blocking) + this.windowMs);
      place = this.#next(place);
    }
    return earliest;
  }

  #dropFirstRunOut(chain: number, now: number): boolean {
    const first = this.#next(chain);
    if (first === chain) return false;
    this.looks += 1;
    const newest = this.#blocks.timeAt(this.#fields[first * FIELDS + NEWEST] as number);
    if (newest + this.windowMs > now) return false;
    this.#drop(first);
    return true;
  }

  #drop(place: number): void {
    const at = place * FIELDS;
    this.#unchain(place);
    let position = this.#fields[at + OLDEST] as number;
    for (let left = this.#fields[at + COUNT] as number; left > 1; left -= 1) {
      position = this.#blocks.shorten(position);
    }
    this.#blocks.free(position);
    this.#places.delete(this.#keys[place] as string);
    this.#keys[place] = undefined;
    this.#vacant.push(place);
  }

  /** Half-open: a request at `t` has left at `t + window`. @returns how many still count */
  #letGo(at: number, now: number): number {
    const fields = this.#fields;
    const count = fields[at + COUNT] as number;
    let oldest = fields[at + OLDEST] as number;
    if (count === 0 || this.#blocks.timeAt(oldest) + this.windowMs > now) return count;
    let left = count - 1;
    for (; left > 0; left -= 1) {
      oldest = this.#blocks.shorten(oldest);
      if (this.#blocks.timeAt(oldest) + this.windowMs > now) break;
    }
    fields[at + OLDEST] = oldest;
    fields[at + COUNT] = left;
    return left;
  }

  #next(place: number): number {
    return this.#fields[place * FIELDS + NEXT] as number;
  }

  #moveToEnd(place: number, chain: number, blockedFrom: number): void {
    const fields = this.#fields;
    if (fields[chain * FIELDS + PREVIOUS] !== place) {
      this.#unchain(place);
      this.#append(place, chain);
    }
    fields[place * FIELDS + BLOCKED_FROM] = chain === BLOCKED ? -blockedFrom : blockedFrom;
  }

  #append(place: number, chain: number): void {
    const fields = this.#fields;
    const last = fields[chain * FIELDS + PREVIOUS] as number;
    fields[last * FIELDS + NEXT] = place;
    fields[place * FIELDS + PREVIOUS] = last;
    fields[place * FIELDS + NEXT] = chain;
    fields[chain * FIELDS + PREVIOUS] = place;
  }

  #unchain(place: number): void {
    const fields = this.#fields;
    const previous = fields[place * FIELDS + PREVIOUS] as number;
    const next = fields[place * FIELDS + NEXT] as number;
    fields[previous * FIELDS + NEXT] = next;
    fields[next * FIELDS + PREVIOUS] = previous;
  }

  #grow(): void {
    const wider = new Int32Array(Math.ceil((this.#fields.length / FIELDS) * 1.25) * FIELDS);
    wider.set(this.#fields);
    this.#fields = wider;
  }
}
