import { hash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Context } from "hono";
import { matchesEtag } from "./etag.ts";

/** Content that stays the same while the process runs, also compressed. */
export type Asset = { type: string; content: Bytes; compressed: Bytes; etag: string };

type Bytes = Uint8Array<ArrayBuffer>;

/** @param type the content type */
export async function createAsset(type: string, content: Bytes): Promise<Asset> {
  const compressed = (await promisify(gzip)(content)) as Bytes;
  return { type, content, compressed, etag: `"${hash("sha256", content, "base64url")}"` };
}

/** Responds with an asset that anybody may cache, or 304 when the client has it already. */
export function answerAsset(
  c: Context,
  { type, content, compressed, etag }: Asset,
  { maxAgeSeconds }: { maxAgeSeconds: number },
): Response {
  c.header("vary", "Accept-Encoding", { append: true });
  c.header("cache-control", `public, max-age=${maxAgeSeconds}`);
  c.header("etag", etag);
  if (matchesEtag(c.req.header("if-none-match"), etag)) return c.body(null, 304);
  // Names of codings and of the weight are case-insensitive: RFC 9110, sections 8.4.1 and 12.4.2.
  if (!/\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(c.req.header("accept-encoding") ?? ""))
    return c.body(content, 200, { "content-type": type });
  return c.body(compressed, 200, { "content-type": type, "content-encoding": "gzip" });
}
