import { randomUUID } from "node:crypto";
import type { RedisConnection } from "../limits/redis-connection.ts";

const EXPIRES_MS = "1000";

/** Runs the commands by which the assistant keeps its answers in Redis, on keys that expire. @throws where one is refused */
export async function tryChatCommands(redis: RedisConnection): Promise<void> {
  const pointer = `tollgate:chat:doctor:${randomUUID()}`;
  const entries = `${pointer}:${randomUUID()}`;
  const commands: [name: string, key: string, ...values: string[]][] = [
    ["SET", pointer, entries, "PX", EXPIRES_MS],
    ["XADD", entries, "0-1", "chunk", "null"],
    ["PEXPIRE", entries, EXPIRES_MS],
    ["GET", pointer],
    ["XRANGE", entries, "-", "+"],
    ["EXISTS", entries],
    ["DEL", pointer],
  ];
  for (const command of commands) await redis.send(command[1], command);
}
