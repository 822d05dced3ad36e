import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { cleanedUp } from "../support/cleanup.ts";
import { sendRequest } from "../support/http.ts";
import { spawnServer } from "../support/server-process.ts";
import { STRIPE_KEY, stripeServer } from "../support/stripe-server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { PROCESS_VARIABLES } from "../support/variables.ts";
import { ENTRY, tollgateProcessIn } from "./tollgate.ts";

let folder: string;
beforeAll(async () => {
  folder = await temporaryFolder();
});

const isRunning = () => existsSync(join(folder, "postgres", "cluster", "postmaster.pid"));

describe("the command line on a data folder", () => {
  it("starts PostgreSQL and stops it again, but leaves that of a running server running", async () => {
    const alone = tollgateProcessIn({ DATA_DIR: folder });
    expect(await alone.json("users", "create", "--count", "2")).toMatchObject({ created: 2 });
    expect(isRunning()).toBe(false);

    const server = await spawnServer(null, { DATA_DIR: folder });
    const beside = tollgateProcessIn({ DATA_DIR: folder, PORT: new URL(server.url).port });
    const report = await beside.json("simulate", "--slot", "provider-c", "--events", "40");
    expect(report).toMatchObject({ first: 40, checked: { mismatches: [] } });
    const [running, listed] = await Promise.all([
      beside.json("users", "create", "--count", "3"),
      beside.json("webhooks", "list", "--limit", "100"),
    ]);
    expect(running).toMatchObject({ created: 1, existing: 2 });
    expect(listed).toHaveLength(40);
    expect((await sendRequest(server.url, "GET", "/api/ready")).status).toBe(200);
    expect((await server.end("SIGTERM")).code).toBe(0);

    expect(isRunning()).toBe(false);
    expect(await alone.json("webhooks", "list", "--limit", "100")).toEqual(listed);
    expect(isRunning()).toBe(false);
  });

  it("stops PostgreSQL when it is interrupted", async () => {
    const stripe = await stripeServer();
    cleanedUp(stripe.close);
    const called = Promise.withResolvers<void>();
    stripe.interfere(async () => {
      called.resolve();
      return new Promise(() => {});
    });
    const access = { PROVIDER_A_API_KEY: STRIPE_KEY, PROVIDER_A_API_URL: stripe.url };
    const child = spawn(process.execPath, [ENTRY, "import", "users", "--from", "stripe"], {
      env: { ...PROCESS_VARIABLES, DATA_DIR: folder, ...access },
      stdio: "ignore",
    });
    const ended = once(child, "exit");
    await called.promise;
    expect(isRunning()).toBe(true);
    child.kill("SIGINT");
    expect([await ended, isRunning()]).toEqual([[130, null], false]);
  });
});
