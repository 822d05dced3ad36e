import { setTimeout as sleep } from "node:timers/promises";
import { ClientOfflineError, createClient, createCluster } from "@redis/client";
import { hashSlot } from "./hash-slot.ts";

/** One set of connections, to a single Redis or to the nodes of a cluster. */
export type RedisClient = {
  canShare: boolean;
  nodeOf(key: string): string;
  nodes(): string[];
  send(key: string, command: string[]): Promise<unknown>;
  /** The nodes that were discovered: one of them may be the last that still answers. */
  otherUrls(): string[];
  destroy(): void;
};

/** Pings keep an idle connection open; one that stays silent for longer than this is considered dead. */
const MAX_SILENCE_MS = 5_000;
const PING_EVERY_MS = 2_000;
const CONNECT_TIMEOUT_MS = 2_000;
const MAX_RECONNECT_PAUSE_MS = 1_000;
/** A start does not wait longer than this for a cluster's nodes: one of them may be dead. */
const NODES_WITHIN_MS = 500;
/** A dead primary's replica takes over: who holds its keys is asked again this soon. */
const REDISCOVER_AFTER_MS = 500;

/** @throws whatever keeps the first connection from being made, and when `signal` aborts it */
export async function connectRedis(
  urls: readonly string[],
  signal: AbortSignal,
  onError: (error: unknown) => void,
): Promise<RedisClient> {
  const [url] = urls as [string];
  if (urls.length > 1) return connectCluster(urls, signal, onError);
  const client = createClient({ url, ...settings(url) });
  let lastError: unknown = null;
  client.on("error", (error) => {
    lastError = error;
    onError(error);
  });
  client.on("ready", () => {
    lastError = null;
  });
  await abortable(client.connect(), signal, () => client.destroy());
  if (!(await isInCluster((command) => client.sendCommand(command)))) {
    return {
      canShare: true,
      nodeOf: () => "",
      nodes: () => [""],
      send: async (_, command) => {
        try {
          return await client.sendCommand(command);
        } catch (error) {
          // A ClientOfflineError does not say why: the host is unknown or refuses, or the password is another.
          if (!(error instanceof ClientOfflineError)) throw error;
          throw new Error("not connected to Redis", { cause: lastError });
        }
      },
      otherUrls: () => [],
      destroy: () => client.destroy(),
    };
  }
  client.destroy();
  return connectCluster(urls, signal, onError);
}

/** Accounts often lack INFO, which counts as dangerous; a cluster's clients may all use CLUSTER. */
async function isInCluster(send: (command: string[]) => Promise<unknown>): Promise<boolean> {
  const info = await send(["INFO", "cluster"])
    .catch(() => send(["CLUSTER", "INFO"]))
    .catch(() => "");
  return /cluster_enabled:1|cluster_state:/.test(String(info));
}

async function connectCluster(
  urls: readonly string[],
  signal: AbortSignal,
  onError: (error: unknown) => void,
): Promise<RedisClient> {
  const [url] = urls as [string];
  const { protocol, username, password } = new URL(url);
  const cluster = createCluster({
    rootNodes: urls.map((nodeUrl) => ({ url: nodeUrl, ...settings(nodeUrl) })),
    // Discovered nodes take nothing from the URLs.
    defaults: {
      ...settings(url),
      ...(username === "" ? {} : { username: decodeURIComponent(username) }),
      ...(password === "" ? {} : { password: decodeURIComponent(password) }),
    },
    commandOptions: { timeout: 0 },
    // Connecting to all nodes at once would wait for a dead one for ever.
    minimizeConnections: true,
    topologyRefreshOnReconnectionAttemptStrategy: REDISCOVER_AFTER_MS,
  });
  cluster.on("error", onError);
  const errorsOfNodes = new Map<string, unknown>();
  const addressOf = ({ host, port }: { host: string; port: number }) => `${host}:${port}`;
  cluster.on("node-error", (error, node) => errorsOfNodes.set(addressOf(node), error));
  cluster.on("node-ready", (node) => errorsOfNodes.delete(addressOf(node)));
  await abortable(cluster.connect(), signal, () => cluster.destroy());
  const connecting = cluster.masters.map((node) => Promise.resolve(cluster.nodeClient(node)).catch(onError));
  await Promise.race([Promise.all(connecting), sleep(NODES_WITHIN_MS, undefined, { ref: false })]);

  const nodeFor = (key: string) => cluster.slots[hashSlot(key)]?.master;
  return {
    canShare: false,
    nodeOf: (key) => nodeFor(key)?.address ?? "",
    nodes: () => cluster.masters.map(({ address }) => address),
    send: async (key, command) => {
      const node = nodeFor(key);
      if (!node?.client?.isReady) {
        // Connected to for the next one: this one must not wait for a dead node.
        if (node && !node.client) Promise.resolve(cluster.nodeClient(node)).catch(onError);
        const address = node?.address ?? "the node of this key";
        throw new Error(`not connected to ${address}`, { cause: errorsOfNodes.get(address) });
      }
      try {
        return await node.client.sendCommand(command);
      } catch (error) {
        if (!isRedirect(error)) throw error;
        return cluster.sendCommand(key, false, command);
      }
    },
    otherUrls: () =>
      cluster.masters.map(({ host, port }) => urlOf({ protocol, username, password, host, port })),
    destroy: () => cluster.destroy(),
  };
}

function isRedirect(error: unknown): boolean {
  return error instanceof Error && /^(MOVED|ASK) /.test(error.message);
}

function urlOf(node: {
  protocol: string;
  username: string;
  password: string;
  host: string;
  port: number;
}): string {
  const { protocol, username, password, host, port } = node;
  const credentials = username === "" && password === "" ? "" : `${username}:${password}@`;
  return `${protocol}//${credentials}${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Destroys what is being connected when that fails or is aborted. */
async function abortable(
  connecting: Promise<unknown>,
  signal: AbortSignal,
  destroy: () => void,
): Promise<void> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    signal.throwIfAborted();
    await Promise.race([connecting, aborted.promise]);
  } catch (error) {
    connecting.catch(() => {});
    destroy();
    throw error;
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

function settings(url: string) {
  return {
    // A decision that cannot be asked for now is made without Redis, not later.
    disableOfflineQueue: true,
    // The limiter has a time limit of its own, with one timer for all.
    commandOptions: { timeout: 0 },
    maintNotifications: "disabled" as const,
    pingInterval: PING_EVERY_MS,
    socket: {
      ...(url.startsWith("rediss:") ? { tls: true as const } : {}),
      connectTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: MAX_SILENCE_MS,
      reconnectStrategy: (retries: number) => Math.min(25 * 2 ** retries, MAX_RECONNECT_PAUSE_MS),
    },
  };
}
