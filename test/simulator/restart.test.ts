import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { SECRETS } from "../support/variables.ts";
import { endpoint } from "./endpoint.ts";
import { control, order, press, simulator } from "./test-context.ts";

const folder = mkdtempSync(join(tmpdir(), "simulator-"));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
const newFile = () => join(folder, `${files++}`, "simulator.json");
const SECRET = SECRETS["provider-a"];
const PAY = { action: "pay", email: "user@example.com", card: "4242424242424242" };

describe("a restart", () => {
  it("keeps subscriptions, clock, secret and undelivered events", async () => {
    const hook = await endpoint("polar", SECRET);
    hook.answer(() => 503);
    const options = {
      formats: { "provider-a": "polar" },
      deliverTo: () => hook.url,
      stateFile: newFile(),
      timeScale: 20,
    } as const;
    const first = await simulator(options);
    await press((await order(first.url, "polar")).url, PAY);
    await control(first.url, "/clock", { by: "day" });
    const before = await control(first.url, "/provider-a/secret", {});
    const truth = first.subscriptions("provider-a");
    await first.close();

    const tries = hook.arrivals.length;
    hook.answer(() => 200);
    const second = await simulator(options);
    const after = await control(second.url, "/state");
    expect(second.subscriptions("provider-a")).toEqual(truth);
    expect(Date.parse(after.now)).toBeGreaterThanOrEqual(Date.parse(before.now));
    expect(after.slots["provider-a"].secret).toBe(before.slots["provider-a"].secret);
    await second.settle();
    // In any order: how often each was tried before decides when it is tried again.
    expect(new Set(hook.arrivals.slice(tries).map(({ eventType }) => eventType))).toEqual(
      new Set(["subscription.created", "subscription.active", "subscription.updated", "order.paid"]),
    );
    await second.close();
  });

  it("keeps everything that was acknowledged before a crash", async () => {
    const stateFile = newFile();
    const running = await simulator({ deliverTo: () => "http://127.0.0.1:1/", stateFile });
    await press((await order(running.url, "stripe")).url, PAY);
    const crashed = `${stateFile}.as-it-crashed`;
    copyFileSync(stateFile, crashed);
    const next = await simulator({ deliverTo: () => "http://127.0.0.1:1/", stateFile: crashed });
    expect(next.subscriptions("provider-a")).toEqual(running.subscriptions("provider-a"));
    expect(next.subscriptions("provider-a")).toHaveLength(1);
    const { deliveries } = (await control(next.url, "/state")).slots["provider-a"];
    expect(deliveries).toHaveLength(5);
  });

  it("signs with the new secret after a restart with another one", async () => {
    const options = { deliverTo: () => "http://127.0.0.1:1/", stateFile: newFile() };
    const first = await simulator(options);
    await control(first.url, "/provider-a/secret", {});
    await first.close();
    const second = await simulator({ ...options, secret: "whsec_another" });
    expect(second.secret("provider-a")).toBe("whsec_another");
  });

  it("moves a damaged file aside and starts empty", async () => {
    const stateFile = newFile();
    const first = await simulator({ deliverTo: () => "http://127.0.0.1:1/", stateFile });
    await order(first.url, "stripe");
    await first.close();
    const half = readFileSync(stateFile, "utf8").slice(0, 1_000);
    writeFileSync(stateFile, half);
    const second = await simulator({ deliverTo: () => "http://127.0.0.1:1/", stateFile });
    expect(second.logged).toEqual([
      "the simulator's state file is damaged: renamed, and started with an empty state",
    ]);
    expect(second.subscriptions("provider-a")).toEqual([]);
    const aside = readdirSync(join(stateFile, "..")).filter((name) => name.includes("damaged"));
    expect(aside.map((name) => readFileSync(join(stateFile, "..", name), "utf8"))).toEqual([half]);
  });

  it("starts empty after a restart with another format, and logs it", async () => {
    const options = { deliverTo: () => "http://127.0.0.1:1/", stateFile: newFile() };
    const first = await simulator(options);
    await press((await order(first.url, "stripe")).url, PAY);
    await first.close();
    const second = await simulator({ ...options, formats: { "provider-a": "paddle" } });
    expect(second.subscriptions("provider-a")).toEqual([]);
    expect(second.logged).toEqual(["the slot has another format now: its state is reset"]);
  });
});
