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

/** Of a page, in milliseconds: how long this thread, which is the server's too, computes for it. */
async function costOf(userAgent: string): Promise<number> {
  const before = process.threadCpuUsage();
  const { status } = await sendRequest(server.url, "GET", "/sign-in", {
    headers: { "user-agent": userAgent },
  });
  expect(status).toBe(200);
  return process.threadCpuUsage(before).user / 1_000;
}

it.each(["a", "-", "0", "en-"])(
  "serves a page to a User-Agent of 14 KB of %j at no greater cost",
  async (text) => {
    const usual = await costOf("Mozilla/5.0");
    // A hundred times as much where Next.js searches all of it for crawlers.
    expect(await costOf(text.repeat(14_000 / text.length))).toBeLessThan(10 * Math.max(usual, 20));
  },
  120_000,
);

it.each(["/", "/sign-in", "/dashboard", "/nothing"])(
  "refuses %s with thousands of parameters, which Next.js would look up again for each",
  async (path) => {
    expect((await sendRequest(server.url, "GET", `${path}?${"a=1&".repeat(3_500)}`)).status).toBe(414);
  },
);

it("serves a page whose address has the parameters of a campaign", async () => {
  const parameters = Array.from({ length: 100 }, (_, index) => `utm_${index}=1`).join("&");
  expect((await sendRequest(server.url, "GET", `/sign-in?${parameters}`)).status).toBe(200);
  expect((await sendRequest(server.url, "GET", `/sign-in?${parameters}&one=more`)).status).toBe(414);
});
