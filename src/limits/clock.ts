const STARTED_AT = performance.timeOrigin;

/**
 * Milliseconds since the epoch, with fractions, on a clock that never goes back: the machine's clock at the
 * start of the process, then the monotonic clock. `Date.now()` jumps when the time is set.
 */
export function steadyNow(): number {
  return STARTED_AT + performance.now();
}

/** How far the machine's clock is from `steadyNow` by now, in whole seconds: it was set since the start. */
export function secondsSet(): number {
  return Math.round((Date.now() - steadyNow()) / 1000);
}
