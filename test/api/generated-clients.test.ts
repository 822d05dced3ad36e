import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { cp, mkdir, mkdtemp, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { promisify } from "node:util";
import { rolldown } from "rolldown";
import { beforeAll, describe, expect, it } from "vitest";
import plans from "../../plans.config.ts";
import { freshServer } from "../support/fresh-server.ts";
import { sendRequest } from "../support/http.ts";
import { createKey, createUser } from "../support/people.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { ownFolder } from "../support/variables.ts";

const run = promisify(execFile);
const TOOLS = join(import.meta.dirname, "../fixtures/openapi-tools");

const { test, server } = freshServer();
let key: string;
/** Where the tools are installed. */
let tools: string;
let project: string;

beforeAll(async () => {
  tools = await installedTools();
  project = await temporaryFolder();
  await symlink(join(tools, "node_modules"), join(project, "node_modules"));
  ({ key } = await createKey(server.url, await createUser(test, "Ana")));
}, 300_000);

/** Installed once per lock file: they are larger than all other packages of the tests. */
async function installedTools(): Promise<string> {
  const lock = await readFile(join(TOOLS, "package-lock.json"));
  const hash = createHash("sha256").update(lock).digest("hex").slice(0, 16);
  const folder = ownFolder(`tollgate-openapi-tools-${hash}`);
  if (await stat(folder).catch(() => null)) return folder;
  const installing = await mkdtemp(`${folder}-`);
  await cp(TOOLS, installing, { recursive: true });
  await run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: installing });
  // Another run may have been faster.
  await rename(installing, folder).catch(() => rm(installing, { recursive: true, force: true }));
  return folder;
}

const tool = (name: string, ...args: string[]) =>
  run(process.execPath, [join(project, "node_modules/.bin", name), ...args], { cwd: project }).catch(
    (error) => {
      throw new Error(`${name}: ${error.stdout}${error.stderr}`);
    },
  );

describe.each(["v1", "v2"] as const)("the OpenAPI document of %s", (version) => {
  let documentFile: string;
  beforeAll(async () => {
    const { text } = await sendRequest(server.url, "GET", `/api/${version}/openapi.json`);
    await mkdir(join(project, version));
    documentFile = join(project, version, "openapi.json");
    await writeFile(documentFile, text);
  });

  it("passes Spectral's recommended rules", async () => {
    const load = createRequire(join(tools, "package.json"));
    const { Spectral, Document } = load("@stoplight/spectral-core");
    const spectral = new Spectral();
    spectral.setRuleset({ extends: [[load("@stoplight/spectral-rulesets").oas, "recommended"]] });
    const json = load("@stoplight/spectral-parsers").Json;
    const findings = await spectral.run(
      new Document(await readFile(documentFile, "utf8"), json, documentFile),
    );
    expect(
      findings.map(({ code, message, path }: Finding) => `${code} at ${path.join("/")}: ${message}`),
    ).toEqual([]);
  });

  it("gives openapi-fetch, hey-api and orval clients that compile strictly and call the server", async () => {
    const baseUrl = `${server.url}/api/${version}`;
    const folder = join(project, version);
    await tool("openapi-typescript", documentFile, "--output", join(folder, "openapi.d.ts"));
    await tool("openapi-ts", "--input", documentFile, "--output", join(folder, "hey-api"));
    const output = { target: join(folder, "orval.ts"), client: "fetch", mode: "single", baseUrl };
    const config = { api: { input: documentFile, output } };
    await writeFile(join(folder, "orval.config.mjs"), `export default ${JSON.stringify(config)};`);
    await tool("orval", "--config", join(folder, "orval.config.mjs"));
    await writeFile(join(folder, "main.ts"), PROGRAM[version]);
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify(TSCONFIG));
    await tool("tsc", "-p", folder);

    // Generated modules import each other as bundlers resolve them.
    const bundle = await rolldown({ input: join(folder, "main.ts"), platform: "node", logLevel: "silent" });
    await bundle.write({ file: join(folder, "main.mjs"), format: "esm" });
    const { stdout } = await run(process.execPath, [join(folder, "main.mjs")], {
      env: { PATH: process.env.PATH, BASE_URL: baseUrl, KEY: key },
    });
    // The notification is that of the key.
    const expected = { name: "Ana", plans: plans.plans.map(({ id }) => id), notifications: 1, refused: 400 };
    expect(JSON.parse(stdout)).toEqual({ openApiFetch: expected, heyApi: expected, orval: expected });
  });
});

type Finding = { code: string; message: string; path: string[] };

const TSCONFIG = {
  compilerOptions: {
    strict: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    noEmit: true,
    target: "esnext",
    module: "esnext",
    moduleResolution: "bundler",
    lib: ["esnext", "dom", "dom.iterable"],
    types: [],
  },
  include: ["."],
};

/** The same four calls by each client; lists have other shapes in v1. */
function programWith(lists: { plans: string; notifications: string }): string {
  return `
import createClient from "openapi-fetch";
import type { paths } from "./openapi";
import { client } from "./hey-api/client.gen";
import * as heyApi from "./hey-api";
import * as orval from "./orval";

declare const process: { env: Record<string, string> };
declare const console: { log(text: string): void };
const { BASE_URL: baseUrl = "", KEY: key = "" } = process.env;
const headers = { authorization: "Bearer " + key };

async function byOpenApiFetch() {
  const api = createClient<paths>({ baseUrl, headers });
  const me = await api.GET("/users/me");
  const plans = await api.GET("/plans");
  const notifications = await api.GET("/notifications", { params: { query: { limit: 5 } } });
  const refused = await api.PATCH("/users/me", { body: { name: "" } });
  return {
    name: me.data?.name,
    plans: plans.data?.${lists.plans}.map(({ id }) => id),
    notifications: notifications.data?.${lists.notifications}.length,
    refused: refused.response.status,
  };
}

async function byHeyApi() {
  client.setConfig({ baseUrl, headers });
  const me = await heyApi.usersMe();
  const plans = await heyApi.plansList();
  const notifications = await heyApi.notificationsList({ query: { limit: 5 } });
  const refused = await heyApi.usersUpdateProfile({ body: { name: "" } });
  return {
    name: me.data?.name,
    plans: plans.data?.${lists.plans}.map(({ id }) => id),
    notifications: notifications.data?.${lists.notifications}.length,
    refused: refused.response?.status,
  };
}

async function byOrval() {
  const me = await orval.usersMe(undefined, { headers });
  const plans = await orval.plansList(undefined, { headers });
  const notifications = await orval.notificationsList({ limit: 5 }, { headers });
  const refused = await orval.usersUpdateProfile({ name: "" }, { headers });
  if (me.status !== 200 || plans.status !== 200 || notifications.status !== 200) throw new Error("refused");
  return {
    name: me.data.name,
    plans: plans.data.${lists.plans}.map(({ id }) => id),
    notifications: notifications.data.${lists.notifications}.length,
    refused: refused.status,
  };
}

console.log(
  JSON.stringify({ openApiFetch: await byOpenApiFetch(), heyApi: await byHeyApi(), orval: await byOrval() }),
);
`;
}

const PROGRAM = {
  v1: programWith({ plans: "plans", notifications: "notifications" }),
  v2: programWith({ plans: "data", notifications: "data" }),
};
