import { setTimeout as sleep } from "node:timers/promises";
import type { RedisClient } from "./redis-client.ts";

/** A Redis or a Redis cluster, reconnected for as long as this is not closed. */
export type RedisConnection = {
  /** The address of the node that holds a key: each node fails by itself. */
  nodeOf(key: string): string;
  /** The addresses of all nodes. */
  nodes(): string[];
  /** Whether one command can hold several keys: not in a cluster. */
  canShare(): boolean;
  /**
   * Runs a command. Rejects at once while its node is not connected; has no time limit of its own. A
   * connection that no longer leads to the primary is renewed.
   */
  send(key: string, command: string[]): Promise<unknown>;
  /** Resolves with the first connection. */
  connected: Promise<void>;
  /** Makes a new connection beside this one, which it replaces: the old one is silent. */
  renew(): void;
  close(): void;
};

const RETRY_AFTER_MS = 1_000;
const GIVE_UP_AFTER_MS = 2_000;
const MIN_BETWEEN_RENEWALS_MS = { single: 250, cluster: 5_000 };
/** Longer than a decision waits: what is under way on a replaced connection is still answered. */
const CLOSE_REPLACED_AFTER_MS = 1_000;

/**
 * Loads Redis's client, a large module that nobody needs without a Redis. For those who count the time until they
 * are connected: it takes a slow machine a second.
 */
export function loadRedisClient() {
  return import("./redis-client.ts");
}

/** @param urls one Redis, or nodes of one cluster; a single URL may name a cluster's node too */
export function openRedis(urls: readonly string[], onError: (error: unknown) => void): RedisConnection {
  let client: RedisClient | null = null;
  let renewedAt = Number.NEGATIVE_INFINITY;
  let isRenewing = false;
  const closing = new AbortController();
  const first = Promise.withResolvers<void>();

  const replace = (opened: RedisClient) => {
    const replaced = client;
    client = opened;
    if (replaced) setTimeout(() => replaced.destroy(), CLOSE_REPLACED_AFTER_MS).unref();
  };
  const connectOnce = async () => {
    const { connectRedis } = await loadRedisClient();
    if (closing.signal.aborted) return;
    const attempt = AbortSignal.any([closing.signal, AbortSignal.timeout(GIVE_UP_AFTER_MS)]);
    let cause: unknown = null;
    const onClientError = (error: unknown) => {
      cause = error;
      onError(error);
    };
    const nodes = [...urls, ...(client?.otherUrls() ?? [])];
    const opened = await connectRedis(nodes, attempt, onClientError).catch((error: unknown) => {
      // The client tries again until it is aborted: its last error says why.
      if (cause !== null) throw cause;
      const isTimeout = error instanceof Error && error.name === "TimeoutError";
      throw isTimeout ? new Error(`no response within ${GIVE_UP_AFTER_MS / 1000} s`) : error;
    });
    if (closing.signal.aborted) opened.destroy();
    else replace(opened);
  };
  const connectFirst = async () => {
    while (!closing.signal.aborted) {
      try {
        await connectOnce();
        return first.resolve();
      } catch (error) {
        onError(error);
        await sleep(RETRY_AFTER_MS, undefined, { signal: closing.signal }).catch(() => {});
      }
    }
  };
  void connectFirst();

  const renew = () => {
    if (isRenewing || client === null) return;
    const pauseMs = MIN_BETWEEN_RENEWALS_MS[client.canShare ? "single" : "cluster"];
    if (performance.now() - renewedAt < pauseMs) return;
    renewedAt = performance.now();
    isRenewing = true;
    connectOnce()
      .catch(onError)
      .finally(() => {
        isRenewing = false;
      });
  };

  return {
    nodeOf: (key) => client?.nodeOf(key) ?? "",
    nodes: () => client?.nodes() ?? [""],
    canShare: () => client?.canShare ?? true,
    send: async (key, command) => {
      if (client === null) throw new Error("not connected to Redis");
      try {
        return await client.send(key, command);
      } catch (error) {
        if (leadsElsewhere(error)) renew();
        throw error;
      }
    },
    connected: first.promise,
    renew,
    close: () => {
      closing.abort();
      client?.destroy();
      client = null;
    },
  };
}

/**
 * The address may lead to another server by now, as after a failover; this connection would stay with the old
 * one.
 */
function leadsElsewhere(error: unknown): boolean {
  return error instanceof Error && /\b(READONLY|LOADING|CLUSTERDOWN|MASTERDOWN)\b/.test(error.message);
}
