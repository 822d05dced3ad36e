/** Repeatable randomness: the same seed gives the same run. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** 0 up to, not including, `end`. The generator is mulberry32. */
  below(end: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * end);
  }

  /** True in one of `outOf` cases. */
  oneIn(outOf: number): boolean {
    return this.below(outOf) === 0;
  }

  pick<Choice>(choices: readonly Choice[]): Choice {
    return choices[this.below(choices.length)] as Choice;
  }
}
