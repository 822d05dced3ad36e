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

/** How long ago it was, without the time that the machine slept: setting the time of day does not change it. */
export function steadyMsSince(moment: Moment): number {
  return hasSteadyClock() ? steadyMs() - moment.steadyMs : msSince(moment);
}

function steadyMs(): number {
  return hasSteadyClock() ? performance.now() : 0;
}

/** Not every edge runtime has one. */
function hasSteadyClock(): boolean {
  return typeof performance !== "undefined";
}
