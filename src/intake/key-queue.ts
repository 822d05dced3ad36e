/** An item's entry in the queue of one key. */
type Place<Entry> = { key: string; entry: Entry; previous: Place<Entry> | null; next: Place<Entry> | null };

export type Keyed = { keys: readonly string[] };

export type KeyQueue<Entry extends Keyed> = {
  /** Returns whether no earlier entry shares a key. */
  enter(entry: Entry): boolean;
  /** Returns the entries that are now first in all their queues. */
  leave(entry: Entry): Entry[];
  /** The number of entries, one per key, directly before this one. */
  predecessors(entry: Entry): number;
  /** The entries directly behind this one, once per common key. */
  successors(entry: Entry): Entry[];
};

/** A queue per key, so that entries with a common key run one after another, in order of arrival. */
export function createKeyQueue<Entry extends Keyed>(): KeyQueue<Entry> {
  const last = new Map<string, Place<Entry>>();
  const places = new Map<Entry, Place<Entry>[]>();

  const placesOf = (entry: Entry) => places.get(entry) ?? [];

  function predecessors(entry: Entry): number {
    let count = 0;
    for (const { previous } of placesOf(entry)) if (previous !== null) count += 1;
    return count;
  }

  return {
    predecessors,
    successors: (entry) => placesOf(entry).flatMap(({ next }) => (next === null ? [] : [next.entry])),
    enter(entry) {
      const own: Place<Entry>[] = [];
      let isFirst = true;
      for (const key of new Set(entry.keys)) {
        const previous = last.get(key) ?? null;
        const place: Place<Entry> = { key, entry, previous, next: null };
        if (previous !== null) {
          previous.next = place;
          isFirst = false;
        }
        last.set(key, place);
        own.push(place);
      }
      places.set(entry, own);
      return isFirst;
    },
    leave(entry) {
      const freed = new Set<Entry>();
      for (const { key, previous, next } of placesOf(entry)) {
        if (previous !== null) previous.next = next;
        if (next !== null) next.previous = previous;
        else if (previous !== null) last.set(key, previous);
        else last.delete(key);
        if (next !== null && previous === null) freed.add(next.entry);
      }
      places.delete(entry);
      return [...freed].filter((one) => predecessors(one) === 0);
    },
  };
}
