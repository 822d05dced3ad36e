import type { Open } from "./contender.ts";

type Contender = {
  store: "memory" | "redis";
  module: string;
  /** Which of the module's exports opens it. */
  open: string;
  /** What stands before a user's id in the keys that it is asked for. */
  keyPrefix: string;
};

const peer = (store: Contender["store"], file: string): Contender => ({
  store,
  module: `../peers/limits/${file}.js`,
  open: "open",
  keyPrefix: "api:",
});

const tollgate = (store: Contender["store"], open: string, keyPrefix: string): Contender => ({
  store,
  module: "./tollgate.ts",
  open,
  keyPrefix,
});

export const CONTENDERS = {
  tollgate: tollgate("memory", "openMemory", "api:"),
  "tollgate, awaited": tollgate("memory", "openAwaited", "api:"),
  "rate-limiter-flexible": peer("memory", "rate-limiter-flexible-memory"),
  "express-rate-limit": peer("memory", "express-rate-limit-memory"),
  "better-auth": peer("memory", "better-auth-memory"),
  "tollgate on Redis": tollgate("redis", "openRedis", "api:"),
  "rate-limiter-flexible, ioredis": peer("redis", "rate-limiter-flexible-ioredis"),
  "rate-limiter-flexible, node-redis": peer("redis", "rate-limiter-flexible-node-redis"),
  "@upstash/ratelimit": peer("redis", "upstash-sliding-window"),
} as const satisfies Record<string, Contender>;

export type ContenderName = keyof typeof CONTENDERS;

/** The first is Tollgate, whom the others are compared with. */
export const IN_MEMORY = namesOf("memory");
export const ON_REDIS = namesOf("redis");

export async function openerOf(name: ContenderName): Promise<Open> {
  const { module, open } = CONTENDERS[name];
  return (await import(module))[open];
}

function namesOf(store: Contender["store"]): ContenderName[] {
  return (Object.keys(CONTENDERS) as ContenderName[]).filter((name) => CONTENDERS[name].store === store);
}
