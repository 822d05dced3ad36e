import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";

const PROGRAM = resolve(import.meta.dirname, "../../script/health-check.ts");
const hasIpv6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === "::1"),
);

async function check(variables: Record<string, string>): Promise<unknown[]> {
  return once(spawn(process.execPath, [PROGRAM], { env: variables, stdio: "ignore" }), "exit");
}

async function checkAt(
  address: string,
  { status, HOST, PORT = 0 }: { status: number; HOST: string; PORT?: number },
): Promise<unknown[]> {
  const server = createServer(({ url }, response) => {
    response.writeHead(url === "/api/ready" ? status : 404).end();
  }).listen(PORT, address);
  await once(server, "listening");
  try {
    return await check({ HOST, PORT: String((server.address() as AddressInfo).port) });
  } finally {
    server.close();
  }
}

describe("the health check", () => {
  it.each<[string, string]>([
    ["127.0.0.1", "127.0.0.1"],
    ["0.0.0.0", "127.0.0.1"],
    ["localhost", "localhost"],
    ...(process.platform === "linux" ? [["127.0.0.2", "127.0.0.2"] satisfies [string, string]] : []),
    ...(hasIpv6
      ? ([
          ["::1", "::1"],
          ["::", "::1"],
        ] satisfies [string, string][])
      : []),
  ])("passes with HOST=%s when the server at %s is ready", async (HOST, address) => {
    expect(await checkAt(address, { status: 200, HOST })).toEqual([0, null]);
  });

  it("passes on a port that `fetch` refuses", async () => {
    expect(await checkAt("127.0.0.1", { status: 200, HOST: "127.0.0.1", PORT: 10_080 })).toEqual([0, null]);
  });

  it("fails when the server is not ready", async () => {
    expect(await checkAt("127.0.0.1", { status: 503, HOST: "127.0.0.1" })).toEqual([1, null]);
  });

  it("fails when nothing listens", async () => {
    expect(await check({ PORT: "9" })).toEqual([1, null]);
  });
});
