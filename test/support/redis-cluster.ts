import { eventually } from "./eventually.ts";
import { startRedis, type TestRedis } from "./redis.ts";

/** First and last of each node. */
export const SLOTS = [
  [0, 5_460],
  [5_461, 10_922],
  [10_923, 16_383],
] as const;

/** A Redis cluster of three primaries without replicas, each on a free port. */
export async function startRedisCluster(program: string): Promise<TestRedis[]> {
  const nodes = await Promise.all(SLOTS.map((slots) => startRedis(program, { cluster: true, slots })));
  const [first, ...others] = nodes as [TestRedis, ...TestRedis[]];
  for (const node of others) {
    await first.ask("CLUSTER", "MEET", "127.0.0.1", new URL(node.url).port, String(node.busPort));
  }
  const complete = /cluster_state:ok[\s\S]*cluster_known_nodes:3[\s\S]*cluster_size:3/;
  for (const node of nodes) {
    await eventually(async () => complete.test(String(await node.ask("CLUSTER", "INFO"))), true);
  }
  return nodes;
}
