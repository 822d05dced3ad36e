const STARTED_AT = performance.timeOrigin;

/**
 * Milliseconds since the epoch, with fractions, on a clock that never goes back: the machine's clock at the
 * start of the process, then the monotonic clock. `Date.now()` jumps when the time is set.
 */
export function steadyNow(): number {
  return STARTED_AT + performance.now();
}

/** By how many whole seconds the machine's clock is ahead of `steadyNow`, because it was set since; negative: behind. */
export function clockOffsetSeconds(): number {
  return Math.round((Date.now() - steadyNow()) / 1000);
}
