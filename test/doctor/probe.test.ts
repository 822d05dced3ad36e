import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { probe } from "../../src/doctor/probe.ts";
import { cleanedUp } from "../support/cleanup.ts";

it("ends although a response never comes to an end", async () => {
  const trickle = createServer((_, response) => {
    response.writeHead(200);
    const drops = setInterval(() => response.write("."), 20);
    response.on("close", () => clearInterval(drops));
  }).listen(0, "127.0.0.1");
  cleanedUp(async () => trickle.close());
  await once(trickle, "listening");
  const url = `http://127.0.0.1:${(trickle.address() as AddressInfo).port}`;
  expect(await probe(url, { withinMs: 500 })).toMatch(/ within 0\.5 s$/);
});
