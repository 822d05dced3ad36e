import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { wireFormats } from "../../../src/providers/registry.ts";
import { cleanedUp } from "../../support/cleanup.ts";
import { freshDatabase } from "../../support/database.ts";
import { freePort } from "../../support/free-port.ts";
import { startTestServer } from "../../support/server.ts";
import { spawnServer } from "../../support/server-process.ts";
import { testDatabase } from "../../support/test-database.ts";
import { serverVariables } from "../../support/variables.ts";
import { tollgateIn, tollgateProcessIn } from "../tollgate.ts";

const test = testDatabase(0);

/** A server, and the command line beside it that finds it by its port. */
async function serverAnd(variables: Record<string, string> = {}) {
  const server = await startTestServer(test.url, variables);
  const environment = { ...serverVariables(test.url), ...variables, PORT: new URL(server.url).port };
  return { server, environment, tollgate: tollgateIn(environment) };
}

describe.each(wireFormats())("simulate in the format %s", (format) => {
  it("finds every subscription as expected, in order and shuffled", async () => {
    const { server, tollgate } = await serverAnd({ PROVIDER_A_ADAPTER: format });
    const story = ["--slot", "provider-a", "--events", "200", "--duplicates", "0.2", "--seed", "2"];
    const report = await tollgate.json("simulate", ...story, "--corrupt", "0.1");
    expect(report).toMatchObject({
      slot: "provider-a",
      format,
      url: server.url,
      seed: 2,
      events: 200,
      sent: 260,
      first: 200,
      duplicate: 40,
      refused: 20,
      failed: 0,
      ignored: 0,
      unavailable: 0,
      accepted: [],
      notChecked: null,
    });
    expect(report.checked).toEqual({
      subscriptions: report.subscriptions,
      matching: report.subscriptions,
      outOfOrder: 0,
      mismatches: [],
    });
    expect(report.subscriptions).toBeGreaterThan(10);
    expect(report.p99Ms).toBeGreaterThanOrEqual(report.p50Ms);

    // Seed 3 has checkouts that come after their subscription has changed plan, and after it has ended.
    const mixed = ["--slot", "provider-a", "--events", "600", "--seed", "3"];
    const shuffled = await tollgate.json("simulate", ...mixed, "--shuffle", "--concurrency", "1");
    expect(shuffled).toMatchObject({ sent: 600, first: 600, notChecked: null });
    const { subscriptions, matching, outOfOrder, mismatches } = shuffled.checked;
    expect({ all: matching + outOfOrder, mismatches }).toEqual({ all: subscriptions, mismatches: [] });
    expect(outOfOrder).toBeGreaterThan(0);

    const log = await test.rows(
      "select status, count(*)::int as count from webhook_delivery where format = $1 group by 1",
      [format],
    );
    expect(log).toEqual([{ status: "successful", count: 800 }]);
    await server.close();
  });
});

describe("simulate", () => {
  it("prints a table, and sends at the requested rate", async () => {
    const { server, environment } = await serverAnd();
    const startedAt = performance.now();
    const { code, stdout, stderr } = await tollgateProcessIn(environment)(
      ...["simulate", "--slot", "provider-b", "--events", "40", "--rate", "40", "--url", server.url],
    );
    expect(performance.now() - startedAt).toBeGreaterThan(900);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(
      /^provider-b \(paddle\), run \w+, seed \d+\n\nsent +40\nfirst +40\nduplicate +0\nrefused +0\n/,
    );
    expect(stdout).toMatch(
      /failed +0\nevents\/s +\d+\np50 +[\d.]+ ms\np99 +[\d.]+ ms\n\nfinal state: (\d+) of \1 /,
    );
    await server.close();
  });

  it("reports a subscription that differs from the scenario", async () => {
    const { server, tollgate } = await serverAnd();
    // Changes every written value, as if the server had applied it wrongly.
    await test.rows(
      `create function wrong() returns trigger language plpgsql as
       $$ begin new.seats = new.seats + 1; return new; end $$`,
    );
    await test.rows(
      `create trigger wrong before insert or update on subscription for each row
       when (new.provider_subscription_id like '%_3') execute function wrong()`,
    );
    const args = ["simulate", "--slot", "provider-a", "--events", "50"];
    const { code, stdout, stderr } = await tollgate(...args);
    await test.rows("drop function wrong cascade");
    expect(code).toBe(1);
    expect(stderr).toMatch(/^1 of \d+ subscriptions are not as expected\n$/);
    expect(stdout).toMatch(/ {2}sub_\w+_3 of sim_\w+_3: seats is \d+, expected \d+\n/);
    await server.close();
  });

  it("stops at once when the server rejects its signature", async () => {
    const { server, environment } = await serverAnd();
    const stranger = tollgateIn({ ...environment, PROVIDER_A_WEBHOOK_SECRET: "whsec_of_somebody_else" });
    const { code, stdout, stderr } = await stranger("simulate", "--slot", "provider-a", "--events", "500");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/refused a correctly signed delivery \(400 .*PROVIDER_A_WEBHOOK_SECRET/);
    await server.close();
  });

  it("reports that the server uses another database", async () => {
    const { server } = await serverAnd();
    const otherDatabase = await freshDatabase(0);
    const tollgate = tollgateIn(serverVariables(otherDatabase.url));
    const args = ["simulate", "--slot", "provider-a", "--events", "10", "--url", server.url];
    const { code, stdout, stderr } = await tollgate(...args, "--json");
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ first: 0, failed: 10, checked: null });
    expect(stderr).toMatch(/the final state was not checked: /);
    await otherDatabase.drop();
    await server.close();
  });

  it("loses nothing when the server is killed and restarted", async () => {
    const variables = { WEBHOOK_LEASE_SECONDS: "2", PORT: String(await freePort()) };
    const server = await spawnServer(test.url, variables);
    const environment = { ...serverVariables(test.url), ...variables };
    const tollgate = tollgateIn(environment);
    const logged = async () => {
      const [row] = await test.rows<{ count: number }>("select count(*)::int as count from webhook_delivery");
      return row?.count ?? 0;
    };
    const before = await logged();
    const simulating = tollgate.json(
      ...["simulate", "--slot", "provider-a", "--events", "1200", "--rate", "300", "--duplicates", "0.1"],
    );
    while ((await logged()) < before + 100) await sleep(20);
    await server.end("SIGKILL");
    const next = await spawnServer(test.url, variables);
    const report = await simulating;
    expect(report).toMatchObject({ sent: 1320, refused: 0, failed: 0, unavailable: 0 });
    expect(report.retried).toBeGreaterThan(0);
    expect(report.checked.mismatches).toEqual([]);
    expect(report.checked.matching).toBeGreaterThan(report.subscriptions / 2);
    await next.end("SIGTERM");
  });
});

describe("simulate against a faulty server", () => {
  it("fails when corrupted deliveries are accepted, and resends those answered 503", async () => {
    let posts = 0;
    const lax = createServer((request, response) => {
      request.resume();
      posts += request.method === "POST" ? 1 : 0;
      const isBusy = request.method === "POST" && posts <= 3;
      response.writeHead(isBusy ? 503 : 200).end(JSON.stringify({ received: true }));
    });
    await new Promise<void>((resolve) => lax.listen(0, "127.0.0.1", resolve));
    const close = cleanedUp(async () => lax.close());
    const url = `http://127.0.0.1:${(lax.address() as AddressInfo).port}`;
    const tollgate = tollgateIn(serverVariables(test.url));
    const args = ["simulate", "--slot", "provider-c", "--events", "30", "--corrupt", "0.5", "--url", url];
    const { code, stdout, stderr } = await tollgate(...args, "--json");
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ sent: 45, first: 45, refused: 0, retried: 3, checked: null });
    expect(stderr).toMatch(/^15 corrupted deliveries were accepted \(/);
    await close();
  });
});
