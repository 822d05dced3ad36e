import type { Address, ResolveHost } from "./allowed-targets.ts";

/** An answer that there is no such name comes sooner. */
const STALLED_AFTER_MS = 2_000;

/**
 * Looks each name up only once at a time, and names whose last look-up was slow to fail one after the other. Node.js runs
 * two look-ups at a time in a process, those of the database, Redis, providers and the mail server included, and one that no
 * name server answers takes ten seconds or more and cannot be aborted: the others would wait behind those of one endpoint.
 */
export function sharedLookUps(resolve: ResolveHost, stalledAfterMs = STALLED_AFTER_MS): ResolveHost {
  const underWay = new Map<string, Promise<Address[]>>();
  const stalled = new Set<string>();
  let lastOfStalled: Promise<unknown> = Promise.resolve();

  const lookUp = async (host: string): Promise<Address[]> => {
    const startedAt = performance.now();
    try {
      const addresses = await resolve(host);
      stalled.delete(host);
      return addresses;
    } catch (error) {
      if (performance.now() - startedAt >= stalledAfterMs) stalled.add(host);
      else stalled.delete(host);
      throw error;
    } finally {
      underWay.delete(host);
    }
  };
  const lookUpInTurn = (host: string): Promise<Address[]> => {
    const turn = lastOfStalled.then(() => lookUp(host));
    lastOfStalled = turn.catch(() => {});
    return turn;
  };
  return (host) => {
    const present = underWay.get(host);
    if (present) return present;
    const started = stalled.has(host) ? lookUpInTurn(host) : lookUp(host);
    underWay.set(host, started);
    return started;
  };
}
