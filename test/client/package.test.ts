import { execFile } from "node:child_process";
import { readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { createContext, runInContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { publint } from "publint";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { verifyEvent } from "../../clients/typescript/src/verify-event.ts";
import { packClient } from "../../script/pack-client.ts";
import { newEndpointSecret, signedHeaders } from "../../src/outbound/sign.ts";
import type { RunningServer } from "../../src/server.ts";
import { missingBrowser, startBrowser } from "../support/browser.ts";
import { createKey, createUser, type TestUser } from "../support/people.ts";
import { startTestServer } from "../support/server.ts";
import { createServiceKey } from "../support/service-keys.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { testDatabase } from "../support/test-database.ts";
import { GENEROUS_LIMITS } from "../support/variables.ts";

const run = promisify(execFile);
const MODULES = join(import.meta.dirname, "../../node_modules");
const MAX_GZIP_BYTES = 20_500;

const test = testDatabase(0);
let site: Server;
let siteUrl: string;
let server: RunningServer;
let person: TestUser;
let personKey: string;
let serviceKey: string;
/** An empty project, in which the package is installed. */
let project: string;
let bundle: string;

beforeAll(async () => {
  project = await temporaryFolder();
  site = await startSite();
  siteUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  server = await startTestServer(test.url, { ...GENEROUS_LIMITS, CORS_ORIGINS: siteUrl });
  person = await createUser(test, "Ana");
  ({ key: personKey } = await createKey(server.url, person));
  ({ key: serviceKey } = await createServiceKey(test));
  await test.rows(
    `insert into "user" (id, external_id, name, email) values ('ana', 'customer-42', 'Ana', 'ana@example.com')`,
  );
  const tarball = await packClient(project);
  await writeFile(join(project, "package.json"), '{ "name": "shop", "private": true, "type": "module" }');
  await run("npm", ["install", "--offline", "--no-audit", "--no-fund", tarball], { cwd: project });
  await run(join(MODULES, ".bin/tsc"), ["--init"], { cwd: project });
  bundle = await readFile(join(project, "node_modules/tollgate-client/dist/tollgate.js"), "utf8");
});
afterAll(async () => {
  await server?.close();
  site?.close();
});

/** Another site's page, which loads the package as it is. */
async function startSite(): Promise<Server> {
  const listening = createServer((request, response) => {
    const isModule = request.url === "/tollgate.js";
    response.setHeader("content-type", isModule ? "text/javascript" : "text/html");
    response.end(isModule ? bundle : "<!doctype html><title>Shop</title>");
  });
  await new Promise<void>((resolve) => listening.listen(0, "127.0.0.1", resolve));
  return listening;
}

/** Compiles with TypeScript's defaults, the package's own declarations included, and runs the program. */
async function runProgram(
  name: string,
  code: string,
  variables: Record<string, string> = {},
): Promise<string> {
  await writeFile(join(project, name), code);
  const tsc = [join(MODULES, ".bin/tsc"), ["--noEmit", "--skipLibCheck", "false", "-p", "."]] as const;
  await run(...tsc, { cwd: project }).catch(({ stdout }) => {
    throw new Error(stdout);
  });
  const { stdout } = await run(process.execPath, [name], {
    cwd: project,
    env: { PATH: process.env.PATH, ...variables },
  });
  await rm(join(project, name));
  return stdout;
}

describe("the package", () => {
  it("has no dependencies, and is small", async () => {
    expect((await readdir(join(project, "node_modules"))).filter((name) => !name.startsWith("."))).toEqual([
      "tollgate-client",
    ]);
    expect(gzipSync(bundle).length).toBeLessThan(MAX_GZIP_BYTES);
    const licences = await readFile(
      join(project, "node_modules/tollgate-client/dist/THIRD-PARTY-LICENSES.txt"),
      "utf8",
    );
    for (const name of ["@trpc/client", "@trpc/server", "superjson"]) expect(licences).toContain(name);
  });

  it("is published as package managers and bundlers expect it", async () => {
    const { messages } = await publint({
      pkgDir: join(project, "node_modules/tollgate-client"),
      strict: true,
      pack: false,
    });
    expect(messages).toEqual([]);
  });

  it("leaves a program's log readable when an error is not caught", async () => {
    const script = `
      import { createTollgate } from "tollgate-client";
      await createTollgate({ url: "http://127.0.0.1:1", maxRetries: 0 }).request("GET", "/plans");`;
    const running = run(process.execPath, ["--input-type=module", "-e", script], { cwd: project });
    const { stderr } = await running.then(
      () => expect.fail("nothing listens there"),
      (error: { stderr: string }) => error,
    );
    expect(stderr).toMatch(/^TollgateError: No response from http:\/\/127\.0\.0\.1:1$/m);
    expect(stderr).toMatch(/^ +at async sendRequest \(/m);
    // The runtime prints the line that threw.
    expect(stderr.length).toBeLessThan(5_000);
  });

  it("is loaded by CommonJS too", async () => {
    const script = 'console.log(typeof require("tollgate-client").createTollgate)';
    const { stdout } = await run(process.execPath, ["--input-type=commonjs", "-e", script], { cwd: project });
    expect(stdout).toBe("function\n");
  });
});

describe("in a strict TypeScript project", () => {
  it("compiles and runs what its README shows", async () => {
    const readme = await readFile(join(project, "node_modules/tollgate-client/README.md"), "utf8");
    const blocks = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => code);
    const end = "tollgate.close();\n";
    const types = "declare const process: { env: Record<string, string | undefined> };\n";
    const stdout = await runProgram("readme.ts", types + blocks.join("\n") + end, {
      TOLLGATE_URL: server.url,
      SERVICE_KEY: serviceKey,
    });
    expect(stdout.trimEnd().split("\n")).toEqual([
      "may have a project",
      "free { kind: 'quota', value: 1000, used: 0, remaining: 1000 }",
      "true plan null",
      "3 997",
      expect.stringContaining("events"),
      "string",
      "user.created customer-43",
    ]);
  });

  it("types procedures, and reports what is wrong", async () => {
    const code = `
      import { createTollgate, TollgateError, type Reason } from "tollgate-client";
      declare const process: { env: Record<string, string | undefined> };
      const { rpc } = createTollgate({ url: process.env.URL ?? "", key: process.env.KEY });
      const me: { id: string; name: string; email: string } | null = await rpc.user.me.query();
      const { items } = await rpc.notifications.list.query({ limit: 1 });
      const createdAt: Date | undefined = items[0]?.createdAt;
      console.log(me?.name, createdAt instanceof Date);
      const [first, second] = await Promise.all([rpc.billing.plans.query(), rpc.notifications.unreadCount.query()]);
      console.log(first.items.some(({ id }) => id === "free"), typeof second.count);
      await rpc.user.updateProfile.mutate({ name: "Renamed" });
      // @ts-expect-error a name is text
      const wrongInput = () => rpc.user.updateProfile.mutate({ name: 1 });
      // @ts-expect-error there is no such procedure
      const wrongName = () => rpc.user.nothing.query();
      // @ts-expect-error a query is not a mutation
      const wrongKind = () => rpc.user.me.mutate();
      await rpc.user.list.query().catch((error: unknown) => {
        if (!(error instanceof TollgateError)) throw error;
        const forbidden: Reason = "forbidden";
        console.log(error.status, error.reason === forbidden, error.message);
      });
      const expected = { planId: "pro", seats: 1, currentPeriodEnd: createdAt };
      const change = () => rpc.billing.changeSubscription.mutate({ id: "1", when: "now", expected });
      console.log(wrongInput.name, wrongName.name, wrongKind.name, change.name);
      const shop = createTollgate({ url: process.env.URL ?? "", key: process.env.SERVICE_KEY });
      const ana = { externalId: "customer-42" };
      const { allowed } = await shop.rpc.billing.check.query({ ...ana, feature: "projects" });
      const named: { email: string } | null = await shop.rpc.user.me.query({ user: "ana" });
      // @ts-expect-error service keys cannot change a profile
      const notForKeys = () => shop.rpc.user.updateProfile.mutate({ user: "ana", name: "Mallory" });
      console.log((await shop.rpc.user.me.query(ana))?.id, named?.email, allowed, notForKeys.name);`;
    const stdout = await runProgram("rpc.ts", code, {
      URL: server.url,
      KEY: personKey,
      SERVICE_KEY: serviceKey,
    });
    expect(stdout.trimEnd().split("\n")).toEqual([
      "Ana true",
      "true number",
      "403 true Forbidden",
      "wrongInput wrongName wrongKind change",
      "ana ana@example.com true notForKeys",
    ]);
  });

  it("exports AppRouter for tRPC's own client", async () => {
    for (const name of ["@trpc", "superjson"])
      await symlink(join(MODULES, name), join(project, "node_modules", name));
    const code = `
      import { createTRPCClient, httpBatchLink } from "@trpc/client";
      import superjson from "superjson";
      import type { AppRouter } from "tollgate-client";
      declare const process: { env: Record<string, string | undefined> };
      const headers = { authorization: "Bearer " + process.env.KEY };
      const url = process.env.URL + "/api/trpc";
      const client = createTRPCClient<AppRouter>({ links: [httpBatchLink({ url, headers, transformer: superjson })] });
      const me: { id: string } | null = await client.user.me.query();
      // @ts-expect-error a name is text
      const wrongInput = () => client.user.updateProfile.mutate({ name: 1 });
      console.log(typeof me?.id, wrongInput.name);`;
    const stdout = await runProgram("trpc.ts", code, { URL: server.url, KEY: personKey });
    expect(stdout).toBe("string wrongInput\n");
  });
});

const SECRET = newEndpointSecret();
const EVENT = JSON.stringify({ id: "evt_1", type: "user.created", data: {} });
const HEADERS = () =>
  signedHeaders(EVENT, {
    id: "evt_1",
    timestampSeconds: Math.floor(Date.now() / 1000),
    secrets: [SECRET],
  });

/** What every runtime does: calls the server, and verifies an event. Must not refer to anything outside. */
async function useClient(
  client: typeof import("../../clients/typescript/src/tollgate.ts") & { verifyEvent: typeof verifyEvent },
  input: { url: string; key: string; event: string; headers: Record<string, string>; secret: string },
): Promise<unknown[]> {
  const tollgate = client.createTollgate({
    url: input.url,
    key: input.key,
    entitlements: { pollEverySeconds: 0 },
  });
  const [me, plans] = await Promise.all([tollgate.rpc.user.me.query(), tollgate.rpc.billing.plans.query()]);
  await tollgate.entitlements.get();
  // Asks with the ETag of the first answer.
  const { planId } = await tollgate.entitlements.get();
  const event = await client.verifyEvent(input.event, input.headers, input.secret);
  const refused = await tollgate.rpc.user.list.query().catch((error) => error.reason);
  await tollgate.rpc.user.setLocale.mutate({ locale: "de" });
  tollgate.close();
  return [me?.id, plans.items[0]?.id, planId, event.type, refused];
}

const expected = () => [person.id, "free", "free", "user.created", "forbidden"];
const inputs = () => ({
  url: server.url,
  key: personKey,
  event: EVENT,
  headers: HEADERS(),
  secret: SECRET,
});

it("needs only web platform APIs, as on edge runtimes", async () => {
  const iife = await rolldown({ input: join(project, "node_modules/tollgate-client/dist/tollgate.js") });
  const { output } = await iife.generate({ format: "iife", name: "client" });
  await iife.close();
  expect(output[0].imports).toEqual([]);
  const web = {
    fetch,
    Request,
    Response,
    Headers,
    URL,
    URLSearchParams,
    AbortController,
    AbortSignal,
    crypto,
    TextEncoder,
    TextDecoder,
    ReadableStream,
    atob,
    btoa,
    setTimeout,
    clearTimeout,
  };
  const context = createContext(web);
  expect(runInContext("[typeof process, typeof require, typeof Buffer, typeof document]", context)).toEqual(
    Array(4).fill("undefined"),
  );
  const client = runInContext(`${output[0].code}; client`, context);
  expect(await useClient(client, inputs())).toEqual(expected());
});

/** Fetched by `script/client --runtimes`. */
const runtimes: Record<string, string> = JSON.parse(process.env.CLIENT_RUNTIMES ?? "{}");

describe.each(["Bun", "Node 20"])("on %s", (name) => {
  const program = runtimes[name];
  it.skipIf(program === undefined)(
    `runs${program === undefined ? ": run script/client --runtimes" : ""}`,
    async () => {
      const code = `import * as client from "tollgate-client";
        console.log(JSON.stringify(await (${useClient})(client, ${JSON.stringify(inputs())})));`;
      await writeFile(join(project, "runtime.mjs"), code);
      const { stdout } = await run(program as string, ["runtime.mjs"], { cwd: project });
      expect(JSON.parse(stdout)).toEqual(expected());
    },
  );
});

const missing = missingBrowser();

it.skipIf(missing !== null)(`runs in a page of another origin${missing ? `: ${missing}` : ""}`, async () => {
  const browser = await startBrowser();
  const page = await browser.newPage();
  await page.goto(siteUrl);
  const program = `import("/tollgate.js").then((client) => (${useClient})(client, ${JSON.stringify(inputs())}))`;
  expect(await page.evaluate(program)).toEqual(expected());
  await browser.close();
});
