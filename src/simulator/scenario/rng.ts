/** Pseudo-random numbers: the same seed gives the same sequence. */
export type Rng = {
  /** Uniform in [0, 1). */
  unit(): number;
  /** A whole number, both ends included. */
  between(min: number, max: number): number;
  chance(probability: number): boolean;
  /** @throws when there is nothing to pick from */
  pick<Item>(items: readonly Item[]): Item;
  shuffled<Item>(items: readonly Item[]): Item[];
};

/** @param seed a whole number from 0 to 2^32 - 1 */
export function createRng(seed: number): Rng {
  const unit = mulberry32(seed);
  const between = (min: number, max: number) => min + Math.floor(unit() * (max - min + 1));
  return {
    unit,
    between,
    chance: (probability) => unit() < probability,
    pick: (items) => {
      if (items.length === 0) throw new Error("nothing to pick from");
      return items[between(0, items.length - 1)] as (typeof items)[number];
    },
    shuffled: (items) => {
      const order = [...items];
      for (let last = order.length - 1; last > 0; last -= 1) {
        const swapped = between(0, last);
        [order[last], order[swapped]] = [order[swapped] as never, order[last] as never];
      }
      return order;
    },
  };
}

/** Selects exactly this share of `total` items with equal chances; call it once per item. */
export function exactShare(rng: Rng, share: number, total: number): () => boolean {
  let toSelect = Math.round(share * total);
  let remaining = total;
  return () => {
    const isSelected = rng.unit() * remaining < toSelect;
    remaining -= 1;
    if (isSelected) toSelect -= 1;
    return isSelected;
  };
}

// Tommy Ettinger's Mulberry32: 32 bits of state are enough for scenarios.
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
