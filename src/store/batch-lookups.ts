/** One of them may be stuck on a connection that has just died. */
const MAX_IN_FLIGHT = 2;

/**
 * Groups single lookups into batches: those of one turn of the event loop share a query, and those that
 * arrive while two queries are running wait for one to end. A result is never older than the request for it.
 * @param findMany leaves out the keys that it does not find
 */
export function batchLookups<Found>(
  findMany: (keys: string[]) => Promise<Map<string, Found>>,
): (key: string) => Promise<Found | undefined> {
  type Request = { resolve(result: Found | undefined): void; reject(error: unknown): void };
  let waiting = new Map<string, Request[]>();
  let inFlight = 0;
  let isScheduled = false;

  const schedule = () => {
    if (isScheduled || inFlight >= MAX_IN_FLIGHT) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      if (waiting.size > 0) void send();
    });
  };
  const send = async () => {
    inFlight += 1;
    const batch = waiting;
    waiting = new Map();
    try {
      const results = await findMany([...batch.keys()]);
      for (const [key, requests] of batch) for (const { resolve } of requests) resolve(results.get(key));
    } catch (error) {
      for (const requests of batch.values()) for (const { reject } of requests) reject(error);
    }
    inFlight -= 1;
    if (waiting.size > 0) schedule();
  };

  return (key) =>
    new Promise((resolve, reject) => {
      const requests = waiting.get(key);
      if (requests) requests.push({ resolve, reject });
      else waiting.set(key, [{ resolve, reject }]);
      schedule();
    });
}
