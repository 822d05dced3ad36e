import { execFile } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import type { Finding } from "../../src/doctor/finding.ts";
import { ENTRY } from "../cli/tollgate.ts";
import { cleanedUp } from "../support/cleanup.ts";
import { PROCESS_VARIABLES, serverVariables } from "../support/variables.ts";

it("warns of a proxy that is named and not used, through which providers may be reached", async () => {
  const asked: string[] = [];
  const proxy = createServer().on("connect", (request, socket) => {
    asked.push(request.url ?? "");
    socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
  });
  await new Promise<void>((listens) => proxy.listen(0, "127.0.0.1", listens));
  cleanedUp(async () => proxy.close());
  const env = {
    ...PROCESS_VARIABLES,
    ...serverVariables("postgres://127.0.0.1:9/none"),
    HTTPS_PROXY: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    PROVIDER_A_API_KEY: "sk_test_of_nobody",
    PROVIDER_A_API_URL: "https://provider.invalid",
  };
  const warningWith = async (variables: Record<string, string>) => {
    const options = { env: { ...env, ...variables } };
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [ENTRY, "doctor", "--json"],
      options,
    ).catch((failed) => failed);
    const { findings } = JSON.parse(stdout) as { findings: Finding[] };
    return findings.find(({ detail }) => detail.startsWith("HTTPS_PROXY"));
  };
  expect(await warningWith({})).toMatchObject({
    state: "warning",
    detail: "HTTPS_PROXY is set, but Node.js uses no proxy unless NODE_USE_ENV_PROXY is 1",
  });
  expect(asked).toEqual([]);
  expect(await warningWith({ NODE_USE_ENV_PROXY: "1" })).toBe(undefined);
  expect(asked).toContain("provider.invalid:443");
});
