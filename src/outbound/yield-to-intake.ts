/** How many deliveries may be started now. */
export type Allowance = {
  /** A new pass begins. @param endpoints with something to send */
  renew(endpoints: number): void;
  /** @param wanted by one endpoint. Returns how many it may start. */
  take(wanted: number): number;
};

/**
 * Per pass while the intake is busy; with five passes a second about a hundredth of what two cores can do. Never none:
 * what waits always moves.
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
  return {
    renew: (endpoints) => {
      isBusy = isIntakeBusy();
      left = PER_BUSY_PASS;
      share = Math.max(1, Math.floor(PER_BUSY_PASS / Math.max(1, endpoints)));
    },
    take: (wanted) => {
      // Until the next pass: the queue is empty for moments between two groups.
      isBusy ||= isIntakeBusy();
      if (!isBusy) return wanted;
      const taken = Math.min(wanted, share, left);
      left -= taken;
      return taken;
    },
  };
}
