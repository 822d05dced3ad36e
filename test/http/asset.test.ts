import { gunzipSync } from "node:zlib";
import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { answerAsset, createAsset } from "../../src/http/asset.ts";

const TEXT = "the same text ".repeat(100);

async function get(headers: Record<string, string> = {}): Promise<Response> {
  const asset = await createAsset("text/plain", new TextEncoder().encode(TEXT));
  const app = new Hono();
  app.get("/", (c) => answerAsset(c, asset, { maxAgeSeconds: 300 }));
  return app.request("/", { headers });
}

async function textOf(response: Response): Promise<string> {
  const bytes = Buffer.from(await response.arrayBuffer());
  return (response.headers.has("content-encoding") ? gunzipSync(bytes) : bytes).toString();
}

describe("an asset", () => {
  it.each(["gzip", "br, gzip", "gzip;q=0.5, br", "gzip;q=1", "gzip;q=0.001", "GZIP"])(
    "is compressed for Accept-Encoding: %s",
    async (accepted) => {
      const response = await get({ "accept-encoding": accepted });
      expect(response.headers.get("content-encoding")).toBe("gzip");
      expect(response.headers.get("content-type")).toBe("text/plain");
      expect(await textOf(response)).toBe(TEXT);
    },
  );

  it.each(["br", "identity", "", "gzip;q=0", "br, gzip; q=0.000", "gzip;Q=0, *"])(
    "is not compressed for Accept-Encoding: %s",
    async (accepted) => {
      const response = await get({ "accept-encoding": accepted });
      expect(response.headers.has("content-encoding")).toBe(false);
      expect(response.headers.get("content-type")).toBe("text/plain");
      expect(await textOf(response)).toBe(TEXT);
    },
  );

  it("is not sent again to a client that has it, be it compressed or not", async () => {
    const first = await get();
    const cacheable = { "cache-control": "public, max-age=300", vary: "Accept-Encoding" };
    expect(Object.fromEntries(first.headers)).toMatchObject(cacheable);
    const etag = first.headers.get("etag") as string;
    for (const accepted of ["gzip", "identity"]) {
      const repeated = await get({ "if-none-match": `"other", ${etag}`, "accept-encoding": accepted });
      expect([repeated.status, await repeated.text()]).toEqual([304, ""]);
      expect(Object.fromEntries(repeated.headers)).toMatchObject({ ...cacheable, etag });
    }
    expect((await get({ "if-none-match": '"other"' })).status).toBe(200);
  });
});
