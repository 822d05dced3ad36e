/** One question to a limiter, on one clock in milliseconds: it was decided some time between the two. */
export type Call = { sentAt: number; answeredAt: number; allowed: boolean; resetAt: number | null };

export type Verdict = {
  calls: number;
  refusals: number;
  /** The most that passed in any window, wherever it starts. */
  mostAdmitted: number;
  /** Refused although fewer than the limit had passed in the window before it. */
  wrongRefusals: number;
  /**
   * Between what refusals told and the time from which the same request passed: the largest, in milliseconds.
   */
  resetErrorMs: number;
};

export type Law = {
  limit: number;
  windowMs: number;
  /** What the clock moves by at least: an instant right after another is so much later. */
  tickMs: number;
  /** By how much a time that is told may be rounded up. */
  roundedUpMs: number;
};

/**
 * Holds the calls of one key, one after the other, against the exact window, by brute force. What cannot be
 * known, as a decision is made somewhere on its round trip, is decided for the limiter: everything counted
 * here is certain.
 */
export function judge(calls: readonly Call[], law: Law): Verdict {
  const admitted = calls.filter(({ allowed }) => allowed);
  return {
    calls: calls.length,
    refusals: calls.length - admitted.length,
    mostAdmitted: mostInAnyWindow(admitted, law.windowMs),
    wrongRefusals: calls.filter((call, index) => !call.allowed && hadRoom(call, calls.slice(0, index), law))
      .length,
    resetErrorMs: largestResetError(calls, law),
  };
}

/** Of one contender's keys. */
export function worst(verdicts: readonly Verdict[]): Verdict {
  const sum = (of: (verdict: Verdict) => number) =>
    verdicts.reduce((total, verdict) => total + of(verdict), 0);
  const largest = (of: (verdict: Verdict) => number) => Math.max(0, ...verdicts.map(of));
  return {
    calls: sum(({ calls }) => calls),
    refusals: sum(({ refusals }) => refusals),
    mostAdmitted: largest(({ mostAdmitted }) => mostAdmitted),
    wrongRefusals: sum(({ wrongRefusals }) => wrongRefusals),
    resetErrorMs: largest(({ resetErrorMs }) => resetErrorMs),
  };
}

/** A window is half-open: two that are less than its length apart can be in one. */
function mostInAnyWindow(admitted: readonly Call[], windowMs: number): number {
  const together = admitted.map(
    (first, index) =>
      admitted.slice(index).filter((later) => later.answeredAt - first.sentAt < windowMs).length,
  );
  return Math.max(0, ...together);
}

function hadRoom({ sentAt }: Call, before: readonly Call[], { limit, windowMs }: Law): boolean {
  const counted = before.filter(({ allowed, answeredAt }) => allowed && answeredAt > sentAt - windowMs);
  return counted.length < limit;
}

function largestResetError(calls: readonly Call[], law: Law): number {
  let largest = 0;
  let run: Call[] = [];
  for (const call of calls) {
    if (call.allowed) {
      largest = Math.max(largest, resetError(run, call, law));
      run = [];
    } else {
      run.push(call);
    }
  }
  return largest;
}

/** The request first passes after the last of these refusals, and at the latest with the call that passed. */
function resetError(refusals: readonly Call[], passed: Call, { tickMs, roundedUpMs }: Law): number {
  const last = refusals.at(-1);
  if (!last) return 0;
  const roundTripMs = Math.max(...refusals.map(({ sentAt, answeredAt }) => answeredAt - sentAt));
  const errors = refusals.map(({ resetAt }) => {
    if (resetAt === null) return 0;
    const early = last.sentAt + tickMs - resetAt;
    const late = resetAt - passed.answeredAt - roundedUpMs;
    return Math.max(0, early - roundTripMs, late - roundTripMs);
  });
  return Math.max(...errors);
}
