import { beforeAll, expect, it } from "vitest";
import { builtPages } from "../../support/built-pages.ts";
import { freshServer } from "../../support/fresh-server.ts";
import { sendRequest } from "../../support/http.ts";

const { server } = freshServer();
beforeAll(async () => {
  await builtPages();
  // Loads Next.js.
  await sendRequest(server.url, "GET", "/sign-in");
}, 180_000);

/** Milliseconds that this thread, which is the server's too, has computed for a page. */
async function computedFor(userAgent: string): Promise<number> {
  const before = process.threadCpuUsage();
  const { status } = await sendRequest(server.url, "GET", "/sign-in", {
    headers: { "user-agent": userAgent },
  });
  expect(status).toBe(200);
  return process.threadCpuUsage(before).user / 1_000;
}

it.each(["a", "-", "0", "en-"])(
  "takes no longer for a User-Agent of 14 KB of %j",
  async (text) => {
    // Seconds where Next.js searches all of it for crawlers.
    expect(await computedFor(text.repeat(14_000 / text.length))).toBeLessThan(500);
  },
  120_000,
);
