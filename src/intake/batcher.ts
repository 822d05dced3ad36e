export type BatcherOptions<Item, Answer> = {
  /** What an item touches: two items with a common key are never worked on by two groups at once. */
  keysOf(item: Item): readonly string[];
  /** Whether items with a common key may share a group, in order, or must wait for the next one. */
  sameKey: "together" | "apart";
  bytesOf(item: Item): number;
  maxItems: number;
  maxBytes: number;
  maxInFlight: number;
  /** A further group sets out only once the latest has been under way for so long: fewer groups are larger ones. */
  overtakeAfterMs: number;
  /** One answer an item, in the order of the items. When it throws, so do all its items. */
  run(group: readonly Item[]): Promise<readonly Answer[]>;
};

export type Batcher<Item, Answer> = {
  submit(item: Item): Promise<Answer>;
  /** What waits and what is being worked on. */
  load(): { items: number; bytes: number };
  /** Resolves once nothing waits and nothing runs. */
  idle(): Promise<void>;
};

type Waiting<Item, Answer> = {
  item: Item;
  keys: readonly string[];
  bytes: number;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
};

// Beyond this many waiting items nobody looks for one that is free to go.
const LOOK_AHEAD = 1_000;

/**
 * Group commit: items that wait together are worked on together, in the order of their arrival wherever they have
 * a key in common. An item that comes to an idle desk starts at once, alone; nothing ever waits to fill a group.
 */
export function createBatcher<Item, Answer>(options: BatcherOptions<Item, Answer>): Batcher<Item, Answer> {
  let waiting: Waiting<Item, Answer>[] = [];
  let inFlight = 0;
  let latestStart = 0;
  let load = { items: 0, bytes: 0 };
  let scheduled = false;
  const busyKeys = new Map<string, number>();
  const idlers: (() => void)[] = [];

  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    // After the events that the same turn of the event loop brings in, and no later.
    setImmediate(() => {
      scheduled = false;
      while (waiting.length > 0 && mayStart()) {
        const group = nextGroup();
        if (group.length === 0) return;
        void work(group);
      }
    });
  }

  function mayStart(): boolean {
    if (inFlight === 0) return true;
    return inFlight < options.maxInFlight && performance.now() - latestStart >= options.overtakeAfterMs;
  }

  function nextGroup(): Waiting<Item, Answer>[] {
    const group: Waiting<Item, Answer>[] = [];
    const left: Waiting<Item, Answer>[] = [];
    const taken = new Set<string>();
    const skipped = new Set<string>();
    let bytes = 0;
    let looked = 0;
    for (const one of waiting) {
      const full =
        group.length >= options.maxItems || (group.length > 0 && bytes + one.bytes > options.maxBytes);
      if (full || looked >= LOOK_AHEAD) break;
      looked += 1;
      const blocked = one.keys.some(
        (key) => busyKeys.has(key) || skipped.has(key) || (options.sameKey === "apart" && taken.has(key)),
      );
      for (const key of one.keys) (blocked ? skipped : taken).add(key);
      if (blocked) {
        left.push(one);
      } else {
        group.push(one);
        bytes += one.bytes;
      }
    }
    waiting = left.concat(waiting.slice(looked));
    return group;
  }

  async function work(group: readonly Waiting<Item, Answer>[]): Promise<void> {
    inFlight += 1;
    latestStart = performance.now();
    const overtaking = setTimeout(schedule, options.overtakeAfterMs + 1);
    for (const { keys } of group) {
      for (const key of keys) busyKeys.set(key, (busyKeys.get(key) ?? 0) + 1);
    }
    try {
      const answers = await options.run(group.map((one) => one.item));
      group.forEach((one, index) => {
        one.resolve(answers[index] as Answer);
      });
    } catch (error) {
      for (const one of group) one.reject(error);
    }
    for (const { keys } of group) {
      for (const key of keys) release(key);
    }
    clearTimeout(overtaking);
    inFlight -= 1;
    load = {
      items: load.items - group.length,
      bytes: load.bytes - group.reduce((sum, one) => sum + one.bytes, 0),
    };
    if (waiting.length > 0) schedule();
    else if (inFlight === 0) for (const resolve of idlers.splice(0)) resolve();
  }

  function release(key: string): void {
    const count = busyKeys.get(key) ?? 0;
    if (count > 1) busyKeys.set(key, count - 1);
    else busyKeys.delete(key);
  }

  return {
    submit: (item) =>
      new Promise((resolve, reject) => {
        const bytes = options.bytesOf(item);
        load = { items: load.items + 1, bytes: load.bytes + bytes };
        waiting.push({ item, keys: options.keysOf(item), bytes, resolve, reject });
        schedule();
      }),
    load: () => load,
    idle: () =>
      waiting.length === 0 && inFlight === 0
        ? Promise.resolve()
        : new Promise((resolve) => idlers.push(resolve)),
  };
}
