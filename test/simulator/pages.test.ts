import { beforeAll, describe, expect, it } from "vitest";
import type { Simulator } from "../../src/simulator/server/start-simulator.ts";
import { sendRequest } from "../support/http.ts";
import { control, order, press, simulator } from "./test-context.ts";

const HOSTILE = `"><script>alert(1)</script>@example.com`;
let sim: Simulator;
beforeAll(async () => {
  sim = await simulator({ deliverTo: () => "http://127.0.0.1:1/<script>", timeScale: 1 });
});

/** With any Host header, which `fetch` does not allow. */
async function statusOf(
  path: string,
  { method = "GET", headers }: { method?: string; headers: Record<string, string> },
): Promise<number> {
  return (await sendRequest(sim.url, method, path, { headers })).status;
}

describe("the pages", () => {
  it("escape user input", async () => {
    const { url } = await order(sim.url, "stripe", { email: HOSTILE });
    const checkout = await (await fetch(url)).text();
    const refused = (await press(url, { action: "pay", email: `x ${HOSTILE}`, card: "<b>" })).text;
    await press(url, { action: "pay", email: HOSTILE, card: "4242424242424242" });
    const [{ portalUrl }] = (await control(sim.url, "/state")).slots["provider-a"].subscriptions;
    const portal = await (await fetch(`${portalUrl}?done=<script>`)).text();
    const controlPage = await (await fetch(`${sim.url}/?problem=<script>alert(1)</script>`)).text();
    for (const page of [checkout, refused, portal, controlPage]) {
      expect(page).toContain("&lt;script&gt;alert(1)");
      expect(page).not.toMatch(/<script/i);
    }
  });

  it("accept only test cards, and store none", async () => {
    const { url } = await order(sim.url, "stripe");
    const email = "user@example.com";
    const real = await press(url, { action: "pay", email, card: "5555 5555 5555 4444" });
    expect({ status: real.status, says: real.text }).toEqual({
      status: 422,
      says: expect.stringContaining("Only test cards are taken here"),
    });
    expect((await press(url, { action: "pay", email, card: "4000 0000 0000 0002" })).status).toBe(422);
    expect((await press(url, { action: "pay", email: "nobody", card: "4242424242424242" })).status).toBe(422);
    expect((await press(url, { email, card: "4242424242424242" })).status).toBe(422);
  });

  it("return to the product when the checkout has no return URL", async () => {
    const returnUrl = () => "http://localhost:3000/billing";
    const otherSimulator = await simulator({
      formats: { "provider-a": "paddle" },
      deliverTo: () => "",
      returnUrl,
    });
    const { url } = await order(otherSimulator.url, "paddle");
    const canceled = await press(url, { action: "cancel" });
    expect(canceled.headers.get("location")).toBe(`${returnUrl()}?checkout=cancelled`);
    const paid = await press(url, { action: "pay", email: "user@example.com", card: "4242424242424242" });
    expect(paid.headers.get("location")).toBe(`${returnUrl()}?checkout=completed`);
    const [{ portalUrl }] = (await control(otherSimulator.url, "/state")).slots["provider-a"].subscriptions;
    expect(await (await fetch(portalUrl)).text()).toContain(`href="${returnUrl()}"`);
    await otherSimulator.close();
  });

  it("report an invalid link", async () => {
    for (const path of [
      "/provider-a/checkout/nothing",
      "/provider-a/portal/nothing",
      "/provider-a/portal/e30.e30",
    ]) {
      expect((await fetch(`${sim.url}${path}`)).status).toBe(404);
    }
    const [{ portalUrl, id }] = (await control(sim.url, "/state")).slots["provider-a"].subscriptions;
    const [text, mac] = portalUrl.split("/").at(-1).split(".");
    const claims = JSON.parse(Buffer.from(text, "base64url").toString());
    const forged = Buffer.from(JSON.stringify({ ...claims, customerId: "cus_other" })).toString("base64url");
    expect((await fetch(portalUrl.replace(text, forged))).status).toBe(404);
    expect((await press(portalUrl, { subscription: `${id}x`, action: "cancel_now" })).status).toBe(404);
    expect((await press(portalUrl, { subscription: id, action: "steal" })).status).toBe(422);
    expect((await press(portalUrl, { subscription: id, action: "seats", seats: "6" })).status).toBe(422);
    expect(mac).toHaveLength(43);
  });

  it("refuse forms of other sites and foreign host names", async () => {
    const host = new URL(sim.url).host;
    const method = "POST";
    for (const path of ["/control/clock", "/provider-a/checkout/x", "/provider-a/portal/x"]) {
      expect(await statusOf(path, { method, headers: { host, origin: "http://evil.example" } })).toBe(403);
      expect(await statusOf(path, { method, headers: { host, "sec-fetch-site": "cross-site" } })).toBe(403);
      expect(await statusOf(path, { method, headers: { host, "sec-fetch-site": "same-site" } })).toBe(403);
      expect(await statusOf(path, { method, headers: { host, origin: "null" } })).toBe(403);
      expect(
        await statusOf(path, { method, headers: { host: `evil.example:${new URL(sim.url).port}` } }),
      ).toBe(421);
    }
    expect(await statusOf("/", { headers: { host: "evil.example" } })).toBe(421);
    expect(await statusOf("/control/state", { headers: { host: "127.0.0.1.evil.example" } })).toBe(421);
    expect(await statusOf("/", { headers: { host: `localhost:${new URL(sim.url).port}` } })).toBe(200);
    expect(await statusOf("/", { headers: { host: `[::1]:${new URL(sim.url).port}` } })).toBe(200);
  });

  it("load nothing external, run no script and cannot be framed", async () => {
    const { url } = await order(sim.url, "stripe");
    for (const address of [url, `${sim.url}/`]) {
      const page = await fetch(address);
      expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
      expect(page.headers.get("x-frame-options")).toBe("DENY");
      expect(await page.text()).not.toMatch(/(src|href)="(https?:)?\/\/(?!127\.0\.0\.1)/);
    }
  });
});

describe("the clock", () => {
  it("rejects anything but a move forward", async () => {
    const before = await control(sim.url, "/state");
    for (const by of ["yesterday", -1, 1e12, null]) {
      await expect(control(sim.url, "/clock", { by })).rejects.toThrow("422");
    }
    const after = await control(sim.url, "/clock", { by: "month" });
    const days = (Date.parse(after.now) - Date.parse(before.now)) / 86_400_000;
    expect(days).toBeGreaterThan(27.9);
    expect(days).toBeLessThan(31.1);
    await expect(control(sim.url, "/provider-a/faults", { kind: "explode", next: 1 })).rejects.toThrow("422");
    await expect(control(sim.url, "/provider-a/faults", { kind: "drop", next: -1 })).rejects.toThrow("422");
    await expect(control(sim.url, "/provider-x/faults", { kind: "drop" })).rejects.toThrow("404");
  });
});
