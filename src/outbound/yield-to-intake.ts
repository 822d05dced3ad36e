/** How many deliveries may be started now. */
export type Allowance = {
  /** A new pass begins. @param endpoints with something to send */
  renew(endpoints: number): void;
  /** Whether fewer deliveries than usual are started, until the next pass at least. */
  isYielding(): boolean;
  /** @param wanted by one endpoint. Returns how many it may start. */
  take(wanted: number): number;
};

/**
 * Per pass while the intake is busy. Eight of one endpoint go out at once, with one transaction: 40 a second, or 100 for several
 * endpoints, take a few hundredths of one core. Never none: what waits always moves.
 */
const PER_BUSY_PASS = 20;

/**
 * Sending yields to the intake: providers give up on a webhook after seconds, an event may be late. Without webhooks that
 * queue, everything is sent at once. Once they do, each pass starts a few deliveries, shared by the endpoints.
 */
export function createAllowance(isIntakeBusy: () => boolean): Allowance {
  let isBusy = false;
  let left = 0;
  let share = 0;
  /** Until the next pass: the queue is empty for moments between two groups. */
  const isYielding = () => {
    isBusy ||= isIntakeBusy();
    return isBusy;
  };
  return {
    isYielding,
    renew: (endpoints) => {
      isBusy = isIntakeBusy();
      left = PER_BUSY_PASS;
      share = Math.max(1, Math.floor(PER_BUSY_PASS / Math.max(1, endpoints)));
    },
    take: (wanted) => {
      if (!isYielding()) return wanted;
      const taken = Math.min(wanted, share, left);
      left -= taken;
      return taken;
    },
  };
}
