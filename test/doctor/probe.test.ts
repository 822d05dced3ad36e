import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished, vi } from "vitest";
import { probe } from "../../src/doctor/probe.ts";
import { cleanedUp } from "../support/cleanup.ts";
import { eventually } from "../support/eventually.ts";

/** @returns the URL of a server that answers like this */
async function serverThat(answers: RequestListener): Promise<string> {
  const server = createServer(answers).listen(0, "127.0.0.1");
  cleanedUp(async () => server.close());
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it("ends although a response never comes to an end", async () => {
  const url = await serverThat((_, response) => {
    response.writeHead(200);
    const drops = setInterval(() => response.write("."), 20);
    response.on("close", () => clearInterval(drops));
  });
  expect(await probe(url, { withinMs: 500 })).toEqual({
    problem: "no complete response within 0.5 s",
    isUntrusted: false,
  });
});

it("ends at once where a response breaks off", async () => {
  const url = await serverThat((_, response) => {
    response.writeHead(200, { "content-length": 10 });
    response.write("half", () => response.destroy());
  });
  expect(await probe(url, { withinMs: 10_000_000 })).toEqual({
    problem: "aborted",
    isUntrusted: false,
  });
});

it("leaves no timer behind, which would keep the doctor from ending", async () => {
  const url = await serverThat((_, response) => response.end("ready"));
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  expect(await probe(url)).toMatchObject({ status: 200, text: "ready" });
  await eventually(async () => vi.getTimerCount(), 0);
});

it("reads the beginning of a long response", async () => {
  const url = await serverThat((_, response) => response.end("x".repeat(1_000_000)));
  const { text } = (await probe(url)) as { text: string };
  expect(text.length).toBeLessThanOrEqual(64 * 1024);
});
