export type Moment = { wallMs: number; steadyMs: number };

export function momentNow(): Moment {
  return { wallMs: Date.now(), steadyMs: steadyMs() };
}

/**
 * How long ago it was, by the clock that has moved further: the time of day may be set back, and the other clock may
 * stand still while the machine sleeps.
 */
export function msSince(moment: Moment): number {
  return Math.max(Date.now() - moment.wallMs, steadyMs() - moment.steadyMs);
}

/** Not every edge runtime has such a clock. */
function steadyMs(): number {
  return typeof performance === "undefined" ? 0 : performance.now();
}
