import type { TestRedis } from "../support/redis.ts";
import type { ServerProcess } from "../support/server-process.ts";
import type { TcpProxy } from "../support/tcp-proxy.ts";

/**
 * A server with a network of its own: from its clients, and to its database, its Redis and an endpoint of
 * events.
 */
export type Part = {
  server: ServerProcess;
  links: Record<"provider" | "database" | "Redis" | "event endpoint", TcpProxy>;
};

/** A fault of a server; returns a function that ends it. */
export type Fault = (part: Part) => () => void;

const CONDITIONS: Record<string, (link: TcpProxy) => void> = {
  cut: (link) => link.cut(),
  slow: (link) => link.set({ delayMs: 100 }),
  "one-sided, nothing arrives": (link) => link.set({ toServer: "held" }),
  "one-sided, no answers": (link) => link.set({ toClient: "held" }),
};

/** Each link of a server in each condition, and the processes stopped. */
export function networkFaults(redis: TestRedis): Record<string, Fault> {
  const links: (keyof Part["links"])[] = ["provider", "database", "Redis", "event endpoint"];
  const faults = links.flatMap((name) =>
    Object.entries(CONDITIONS).map(([condition, disturb]): [string, Fault] => [
      `${name} ${condition}`,
      ({ links: { [name]: link } }) => {
        disturb(link);
        return link.restore;
      },
    ]),
  );
  return {
    ...Object.fromEntries(faults),
    "provider's answers lost": ({ links: { provider } }) => {
      provider.set({ toClient: "held" });
      return () => {
        provider.cut();
        provider.restore();
      };
    },
    "server stopped": ({ server }) => {
      server.child.kill("SIGSTOP");
      return () => server.child.kill("SIGCONT");
    },
    "Redis stopped": () => {
      redis.signal("SIGSTOP");
      return () => redis.signal("SIGCONT");
    },
  };
}

/** Of a short run: one of each kind. */
export const SHORT_FAULTS = [
  "database cut",
  "database slow",
  "database one-sided, nothing arrives",
  "database one-sided, no answers",
  "provider slow",
  "provider's answers lost",
  "server stopped",
  "Redis cut",
  "event endpoint one-sided, no answers",
];
