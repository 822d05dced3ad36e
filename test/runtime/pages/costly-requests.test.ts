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

type Sent = { status: number; computedMs: number };

/** `computedMs`: how long this thread, which is the server's too, has computed for it. */
async function load(path: string, userAgent = "Mozilla/5.0"): Promise<Sent> {
  const before = process.threadCpuUsage();
  const { status } = await sendRequest(server.url, "GET", path, { headers: { "user-agent": userAgent } });
  return { status, computedMs: process.threadCpuUsage(before).user / 1_000 };
}

it.each(["a", "-", "0", "en-"])(
  "serves a page to a User-Agent of 14 KB of %j at no greater cost",
  async (text) => {
    const { status, computedMs } = await load("/sign-in", text.repeat(14_000 / text.length));
    expect(status).toBe(200);
    // Seconds where Next.js searches all of it for crawlers.
    expect(computedMs).toBeLessThan(500);
  },
  120_000,
);

it.each(["/", "/sign-in", "/dashboard", "/nothing"])(
  "refuses %s with thousands of parameters before Next.js looks them up",
  async (path) => {
    const { status, computedMs } = await load(`${path}?${"a=1&".repeat(3_500)}`);
    expect(status).toBe(414);
    expect(computedMs).toBeLessThan(500);
  },
  120_000,
);

it("serves a page whose address has the parameters of a campaign", async () => {
  const parameters = Array.from({ length: 100 }, (_, index) => `utm_${index}=1`);
  expect((await load(`/sign-in?${parameters.join("&")}`)).status).toBe(200);
  expect((await load(`/sign-in?${parameters.join("&")}&one=more`)).status).toBe(414);
});
