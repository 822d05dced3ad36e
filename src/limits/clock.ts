const STARTED_AT = performance.timeOrigin;

/**
 * Milliseconds since the epoch, with fractions, on a clock that only goes forwards: the machine's clock at the start of
 * the process, and the monotonic clock from there on. `Date.now()` jumps when somebody sets the time.
 */
export function steadyNow(): number {
  return STARTED_AT + performance.now();
}
