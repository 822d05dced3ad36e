import type { Limiter, Settings } from "./contender.ts";
import { CONTENDERS, openerOf } from "./contenders.ts";
import { withRedis } from "./redis-server.ts";
import type { Turn } from "./turn.ts";

/** A contender's limiter over an empty store. */
export async function openLimiter(
  { contender, redis }: Turn,
  settings: Pick<Settings, "limit" | "windowSeconds">,
): Promise<Limiter> {
  const open = await openerOf(contender);
  if (CONTENDERS[contender].store === "redis") await withRedis(redis.port, (ask) => ask("FLUSHALL"));
  return open({ ...settings, redisPort: redis.port });
}
