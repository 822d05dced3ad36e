import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { readConfig } from "../../../src/config/config.ts";
import { embeddedSecrets } from "../../../src/config/embedded-secrets.ts";
import { paymentAccess } from "../../../src/config/payments.ts";
import { SLOTS } from "../../../src/domain/slot.ts";
import { eventually } from "../../support/eventually.ts";
import { sendRequest } from "../../support/http.ts";
import { createUser } from "../../support/people.ts";
import { startTestServer } from "../../support/server.ts";
import { spawnServer } from "../../support/server-process.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { testDatabase } from "../../support/test-database.ts";
import { GENEROUS_LIMITS, serverVariables } from "../../support/variables.ts";

let folder: string;
const test = testDatabase(0);
beforeAll(async () => {
  folder = await temporaryFolder();
});

describe("the simulated provider", () => {
  it("serves every slot without a key, and stops with the server", async () => {
    const server = await startTestServer(test.url, {
      ...GENEROUS_LIMITS,
      SIMULATOR: "on",
      SIMULATOR_PORT: "0",
      DATA_DIR: folder,
      PROVIDER_B_API_KEY: "pdl_sdbx_of_nobody",
      PROVIDER_B_API_URL: "http://127.0.0.1:1",
    });
    const { cookie } = await createUser(test);
    const checkout = (provider: string) =>
      sendRequest(server.url, "POST", "/api/checkout", { body: { planId: "pro", provider }, cookie });
    for (const slot of ["provider-a", "provider-c"]) {
      const answer = await checkout(slot);
      expect(answer.status, answer.text).toBe(200);
      expect(answer.body.url).toMatch(new RegExp(`^${server.simulatorUrl}/${slot}/`));
      expect((await fetch(answer.body.url)).status).toBe(200);
    }
    expect((await checkout("provider-b")).status).toBe(503);
    await server.close();
    await expect(fetch(`${server.simulatorUrl}/`)).rejects.toThrow();
    expect(JSON.parse(await readFile(join(folder, "simulator.json"), "utf8"))).toMatchObject({ version: 3 });
  });

  it("makes the server exit with one line when its port is in use", async () => {
    const otherServer = createServer();
    await new Promise<void>((listens) => otherServer.listen(0, "127.0.0.1", listens));
    const port = String((otherServer.address() as AddressInfo).port);
    const started = spawnSync(process.execPath, ["src/server.ts"], {
      env: {
        ...serverVariables(test.url),
        PATH: process.env.PATH,
        NODE_ENV: "test",
        LOG_LEVEL: "silent",
        SIMULATOR: "on",
        SIMULATOR_PORT: port,
        DATA_DIR: folder,
      },
      encoding: "utf8",
    });
    expect(started.status).toBe(1);
    expect(started.stderr).toMatch(
      new RegExp(`^SIMULATOR_PORT: port ${port} is in use, e.g. SIMULATOR_PORT=\\d+.*\\n$`),
    );
    await new Promise((closed) => otherServer.close(closed));
  });

  it("is announced in the start-up banner", async () => {
    const dataDir = await temporaryFolder();
    const server = await spawnServer(null, { DATA_DIR: dataDir, SIMULATOR: "on", SIMULATOR_PORT: "0" });
    const greeting = /a payment provider is simulated at http:\/\/127\.0\.0\.1:\d+/;
    await eventually(async () => server.lines.some((line) => greeting.test(line)), true);
    expect((await server.end("SIGTERM")).code).toBe(0);
  });
});

describe("the keys of the simulated provider", () => {
  it("are generated once, or derived from an older file", async () => {
    const dataDir = await mkdtemp(join(folder, "keys-"));
    const generated = await embeddedSecrets(dataDir);
    expect(await embeddedSecrets(dataDir)).toEqual(generated);
    expect(Object.keys(generated.apiKeys)).toEqual([...SLOTS]);
    const { apiKeys, ...older } = generated;
    await writeFile(join(dataDir, "secrets.json"), JSON.stringify(older));
    const read = await embeddedSecrets(dataDir);
    expect(read).toMatchObject(older);
    expect(await embeddedSecrets(dataDir)).toEqual(read);
    expect(new Set([...Object.values(read.apiKeys), ...Object.values(apiKeys)]).size).toBe(6);
  });

  it("are used without a configured key, also by the command line", async () => {
    const secrets = await embeddedSecrets(folder);
    const access = (variables: Record<string, string>) => paymentAccess(readConfig(variables), secrets);
    expect(access({ SIMULATOR_PORT: "3456" })["provider-c"]).toEqual({
      format: "polar",
      apiKey: secrets.apiKeys["provider-c"],
      apiUrl: "http://127.0.0.1:3456/provider-c",
      isSimulated: true,
    });
    expect(access({ SIMULATOR: "off" })).toEqual({
      "provider-a": null,
      "provider-b": null,
      "provider-c": null,
    });
    expect(access({ SIMULATOR: "on", PROVIDER_A_API_KEY: "sk_1" })["provider-a"]).toEqual({
      format: "stripe",
      apiKey: "sk_1",
      apiUrl: null,
      isSimulated: false,
    });
  });
});
