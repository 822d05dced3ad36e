/** Pseudo-random numbers: the same seed gives the same sequence. */
export type Rng = {
  /** Uniform in [0, 1). */
  unit(): number;
  /** A whole number, both ends included. */
  between(min: number, max: number): number;
  chance(probability: number): boolean;
  /** @throws when there is nothing to pick from */
  pick<Thing>(things: readonly Thing[]): Thing;
  shuffled<Thing>(things: readonly Thing[]): Thing[];
};

/** @param seed a whole number from 0 to 2^32 - 1 */
export function createRng(seed: number): Rng {
  const unit = mulberry32(seed);
  const between = (min: number, max: number) => min + Math.floor(unit() * (max - min + 1));
  return {
    unit,
    between,
    chance: (probability) => unit() < probability,
    pick: (things) => {
      if (things.length === 0) throw new Error("nothing to pick from");
      return things[between(0, things.length - 1)] as (typeof things)[number];
    },
    shuffled: (things) => {
      const order = [...things];
      for (let last = order.length - 1; last > 0; last -= 1) {
        const other = between(0, last);
        [order[last], order[other]] = [order[other] as never, order[last] as never];
      }
      return order;
    },
  };
}

/** Selects exactly this share of `total` items with equal chances; call it once per item. */
export function exactShare(rng: Rng, share: number, total: number): () => boolean {
  let wanted = Math.round(share * total);
  let left = total;
  return () => {
    const taken = rng.unit() * left < wanted;
    left -= 1;
    if (taken) wanted -= 1;
    return taken;
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
