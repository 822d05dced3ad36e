/** An item's entry in the queue of one key. */
export type Place<Entry> = {
  key: string;
  /** `null`: it has left. */
  entry: Entry | null;
  previous: Place<Entry> | null;
  next: Place<Entry> | null;
};

export type Keyed<Entry> = {
  keys: readonly string[];
  /** Filled by the queue. */
  places: Place<Entry>[];
};

export type KeyQueue<Entry> = {
  /** Returns whether no earlier entry shares a key. */
  enter(entry: Entry): boolean;
  /** Returns the entries that are now first in all their queues. */
  leave(entry: Entry): Entry[];
  /** The number of entries, one per key, directly before this one. */
  predecessors(entry: Entry): number;
  /** The entries directly behind this one, once per common key. */
  successors(entry: Entry): Entry[];
};

const NONE: never[] = [];

/** A queue per key, so that entries with a common key run one after another, in order of arrival. */
export function createKeyQueue<Entry extends Keyed<Entry>>(): KeyQueue<Entry> {
  const last = new Map<string, Place<Entry>>();

  function predecessors({ places }: Entry): number {
    let count = 0;
    for (const { previous } of places) if (previous !== null) count += 1;
    return count;
  }

  return {
    predecessors,
    successors: ({ places }) => places.flatMap(({ next }) => (next?.entry ? [next.entry] : NONE)),
    enter(entry) {
      let isFirst = true;
      for (const key of entry.keys) {
        const previous = last.get(key) ?? null;
        if (previous?.entry === entry) continue;
        const place: Place<Entry> = { key, entry, previous, next: null };
        if (previous !== null) {
          previous.next = place;
          isFirst = false;
        }
        last.set(key, place);
        entry.places.push(place);
      }
      return isFirst;
    },
    leave(entry) {
      let freed: Set<Entry> | null = null;
      for (const place of entry.places) {
        const { key, previous, next } = place;
        if (previous !== null) previous.next = next;
        if (next !== null) next.previous = previous;
        else if (previous !== null) last.set(key, previous);
        else last.delete(key);
        if (next?.entry && previous === null) {
          freed ??= new Set();
          freed.add(next.entry);
        }
        // A map that is filled and emptied leaves tables behind that refer to its later ones: what they hold
        // lives until a full garbage collection, so they may hold no events.
        place.entry = null;
        place.previous = null;
        place.next = null;
      }
      entry.places = NONE;
      return freed === null ? NONE : [...freed].filter((successor) => predecessors(successor) === 0);
    },
  };
}
