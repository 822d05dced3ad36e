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
 * Deliveries per pass while the intake is busy: never none, so that the backlog always moves. 40 a second to
 * one endpoint, or 100 to several, take a few hundredths of a core.
 */
const PER_BUSY_PASS = 20;

/**
 * Sending yields to the intake: providers give up on a webhook after seconds, whereas an outbound event may
 * be late. While webhooks queue, each pass starts only a few deliveries, shared by the endpoints.
 */
export function createAllowance(isIntakeBusy: () => boolean): Allowance {
  let isBusy = false;
  let left = 0;
  let share = 0;
  /** Kept until the next pass: between two groups the queue is empty for moments. */
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
