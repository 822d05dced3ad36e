import { createHash } from "node:crypto";
import { createClient } from "redis";

/**
 * @upstash/redis speaks HTTP to Upstash. In its place stand the two commands that the limiter needs, on a Redis here,
 * which does not know the flag in the first line of its scripts: without it they have another checksum.
 */
export async function openUpstashRedis(port) {
  const client = createClient({ url: `redis://127.0.0.1:${port}`, disableOfflineQueue: true });
  await client.connect();
  const checksums = new Map();
  const options = (keys, args) => ({ keys, arguments: args.map(String) });
  return {
    evalsha: async (checksum, keys, args) => {
      const loadedSha = checksums.get(checksum);
      if (loadedSha === undefined) throw new Error("NOSCRIPT");
      return client.evalSha(loadedSha, options(keys, args));
    },
    eval: async (script, keys, args) => {
      const plain = script.replace(/^#!lua flags=allow-key-locking\n/, "");
      checksums.set(sha1(script), sha1(plain));
      return client.eval(plain, options(keys, args));
    },
    destroy: () => client.destroy(),
  };
}

function sha1(text) {
  return createHash("sha1").update(text).digest("hex");
}
