import { setTimeout as sleep } from "node:timers/promises";
import { createClient, createCluster } from "redis";

/** A Redis or a Redis cluster, connected again and again for as long as this is not closed. */
export type RedisConnection = {
  /** Runs a command of one key. Rejects at once while there is no connection; has no time limit of its own. */
  ask(key: string, command: string[]): Promise<unknown>;
  /** Resolves with the first connection. */
  connected: Promise<void>;
  /** Gives a connection up that has gone silent, and makes another. */
  renew(): void;
  close(): void;
};

type Client = {
  send(key: string, command: string[]): Promise<unknown>;
  destroy(): void;
};

/** Pings keep an idle connection; one that is silent for longer than this is taken for dead. */
const SILENCE_MS = 5_000;
const PING_EVERY_MS = 2_000;
const CONNECT_WITHIN_MS = 2_000;
const LONGEST_RECONNECT_MS = 1_000;

/** @param urls one Redis, or nodes of one cluster; a single URL may be of a cluster's node too */
export function openRedis(urls: readonly string[], onError: (error: unknown) => void): RedisConnection {
  let client: Client | null = null;
  let attempt = new AbortController();
  const first = Promise.withResolvers<void>();

  const start = async ({ signal }: AbortController) => {
    while (!signal.aborted) {
      try {
        const opened = await connect(urls, signal, onError);
        if (signal.aborted) return opened.destroy();
        client = opened;
        return first.resolve();
      } catch (error) {
        if (signal.aborted) return;
        onError(error);
        await sleep(LONGEST_RECONNECT_MS, undefined, { signal }).catch(() => {});
      }
    }
  };
  const stop = () => {
    attempt.abort();
    client?.destroy();
    client = null;
  };
  void start(attempt);

  return {
    ask: (key, command) => client?.send(key, command) ?? Promise.reject(new Error("not connected to Redis")),
    connected: first.promise,
    renew: () => {
      stop();
      attempt = new AbortController();
      void start(attempt);
    },
    close: stop,
  };
}

async function connect(
  urls: readonly string[],
  signal: AbortSignal,
  onError: (error: unknown) => void,
): Promise<Client> {
  const [url] = urls as [string];
  if (urls.length > 1) return connectCluster(urls, signal, onError);
  const client = createClient({ url, ...settings(url) });
  client.on("error", onError);
  const giveUp = () => client.destroy();
  signal.addEventListener("abort", giveUp, { once: true });
  await client.connect();
  signal.removeEventListener("abort", giveUp);
  const cluster = await client.sendCommand(["INFO", "cluster"]).catch(() => "");
  if (!String(cluster).includes("cluster_enabled:1")) {
    return { send: (_, command) => client.sendCommand(command), destroy: () => client.destroy() };
  }
  client.destroy();
  return connectCluster(urls, signal, onError);
}

async function connectCluster(
  urls: readonly string[],
  signal: AbortSignal,
  onError: (error: unknown) => void,
): Promise<Client> {
  const [url] = urls as [string];
  const { username, password } = new URL(url);
  const cluster = createCluster({
    rootNodes: urls.map((one) => ({ url: one, ...settings(one) })),
    // The nodes that are found out about take nothing from the URLs.
    defaults: {
      ...settings(url),
      ...(username === "" ? {} : { username: decodeURIComponent(username) }),
      ...(password === "" ? {} : { password: decodeURIComponent(password) }),
    },
    commandOptions: { timeout: 0 },
  });
  cluster.on("error", onError);
  const giveUp = () => cluster.destroy();
  signal.addEventListener("abort", giveUp, { once: true });
  await cluster.connect();
  signal.removeEventListener("abort", giveUp);
  return {
    send: (key, command) => cluster.sendCommand(key, false, command),
    destroy: () => cluster.destroy(),
  };
}

function settings(url: string) {
  return {
    // A decision that cannot be asked for now is made otherwise, not later.
    disableOfflineQueue: true,
    // The limiter has its own, one timer for all.
    commandOptions: { timeout: 0 },
    maintNotifications: "disabled" as const,
    pingInterval: PING_EVERY_MS,
    socket: {
      ...(url.startsWith("rediss:") ? { tls: true as const } : {}),
      connectTimeout: CONNECT_WITHIN_MS,
      socketTimeout: SILENCE_MS,
      reconnectStrategy: (retries: number) => Math.min(25 * 2 ** retries, LONGEST_RECONNECT_MS),
    },
  };
}
