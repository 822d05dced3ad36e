import { execFile, execFileSync } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parseEnv, promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LOCALES } from "../../src/domain/locale.ts";
import { acmePay } from "../fixtures/acme-pay/webhook.ts";
import { freshDatabase, type TestDatabase } from "../support/database.ts";
import { freePort } from "../support/free-port.ts";
import { sendRequest } from "../support/http.ts";
import { cookieOf, createUser, type TestUser } from "../support/people.ts";
import { type ServerProcess, spawnServer } from "../support/server-process.ts";
import { createServiceKey } from "../support/service-keys.ts";
import { PROCESS_VARIABLES, SECRETS, serverVariables } from "../support/variables.ts";
import { codeBlocksOf, PROJECT } from "./code-block.ts";

const run = promisify(execFile);
const OPERATION = "docs/how-to/add-an-operation.md";
const TABLE = "docs/how-to/add-a-table.md";
const PAGE = "docs/how-to/add-a-page.md";
const PLAN = "docs/how-to/add-a-plan.md";
const PROVIDER = "docs/how-to/add-a-provider.md";
const VERSION = "docs/how-to/add-a-version.md";
const IDENTITY = "docs/how-to/make-it-yours.md";

/** What the project is built and started from. */
const SOURCES = ["src", "script", "package.json", "next.config.mjs", "postcss.config.mjs", "plans.config.ts"];

let test: TestDatabase;
/** A copy of the project with what the pages add; inside it, as Next.js wants packages below its root. */
let copy: string;
/** The files of it that the pages have written to. */
const written = new Set<string>();
let server: ServerProcess;
let variables: Record<string, string>;
let ana: TestUser;

beforeAll(async () => {
  await mkdir(join(PROJECT, "test-results"), { recursive: true });
  copy = await mkdtemp(join(PROJECT, "test-results/extended-"));
  // Without the other pages: building them takes most of the time. What a slot shows is part of each page.
  const filter = (source: string) => !source.endsWith("/page.tsx") || source.includes("/@");
  for (const name of [...SOURCES, "versions.config.ts", "tsconfig.json", "tsconfig.pages.json"])
    await cp(join(PROJECT, name), join(copy, name), { recursive: true, filter });
  await buildWithoutOptimization();
  // For the fonts, which are named by their path.
  await symlink(join(PROJECT, "node_modules"), join(copy, "node_modules"));
  await addAcmePay();
  for (const page of [OPERATION, TABLE, PAGE, PLAN, PROVIDER, VERSION, IDENTITY]) await applyBlocks(page);
  await run(join(PROJECT, "node_modules/.bin/next"), ["build"], {
    cwd: copy,
    env: { ...process.env, NEXT_TELEMETRY_DISABLED: "1", NODE_ENV: "production" },
  }).catch(({ stdout, stderr }) => {
    throw new Error(stdout + stderr);
  });
  test = await freshDatabase(0);
  const [port, simulatorPort] = [await freePort(), await freePort()];
  const [slot] = codeBlocksOf(PROVIDER).filter(({ language }) => language === "env");
  variables = {
    ...serverVariables(test.url),
    DATA_DIR: join(copy, ".data"),
    PORT: String(port),
    SIMULATOR: "on",
    SIMULATOR_PORT: String(simulatorPort),
    APP_URL: `http://localhost:${port}`,
    ...parseEnv(slot?.code ?? ""),
  };
  server = await spawnServer(test.url, variables, join(copy, "src/server.ts"));
  ana = await createUser(test, "Ana");
}, 600_000);
afterAll(async () => {
  await server?.end("SIGTERM");
  await test?.drop();
  if (copy) await rm(copy, { recursive: true, force: true });
});

/** Halves the build's CPU time: nothing here depends on the size of scripts, nor is this copy built twice. */
async function buildWithoutOptimization(): Promise<void> {
  await rename(join(copy, "next.config.mjs"), join(copy, "project.config.mjs"));
  await writeFile(
    join(copy, "next.config.mjs"),
    `import config from "./project.config.mjs";
const fast = { turbopackMinify: false, turbopackScopeHoisting: false, turbopackFileSystemCacheForBuild: false };
export default { ...config, experimental: { ...config.experimental, ...fast } };
`,
  );
}

/** The folders of the made-up provider, as if they had been written in `src/`. */
async function addAcmePay(): Promise<void> {
  const move = async (folder: string, files: string[], to: string) => {
    await mkdir(join(copy, to), { recursive: true });
    for (const name of files) {
      const code = await readFile(join(PROJECT, "test/fixtures", folder, name), "utf8");
      await writeFile(join(copy, to, name), code.replaceAll('"../../../src/', '"../../'));
    }
  };
  await move("acme-pay", ["api.ts", "traits.ts", "webhook.ts"], "src/providers/acme-pay");
  await move("acme-pay-simulator", ["api.ts", "receipt.ts", "simulated.ts"], "src/simulator/acme-pay");
}

/**
 * A block names its file: a new one, a change, an entry of plans.config.ts or a part of the made-up provider.
 */
async function applyBlocks(page: string): Promise<void> {
  for (const { language, code, line } of codeBlocksOf(page)) {
    const [kind, path] = language.split(" ");
    if (path === undefined) continue;
    const file = join(copy, path);
    if (!path.startsWith("test/fixtures/")) written.add(path);
    if (kind === "diff") await writeFile(file, changed(await readFile(file, "utf8"), code));
    else if (path === "plans.config.ts")
      await writeFile(file, (await readFile(file, "utf8")).replace(/\]\);\n$/, `${code}]);\n`));
    else if (path.startsWith("test/fixtures/"))
      expect(await readFile(join(PROJECT, path), "utf8"), `${page}:${line}`).toContain(code);
    else {
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, code);
    }
  }
}

/** @throws Error unless the lines that stay, or go, are found once */
function changed(text: string, diff: string): string {
  const lines = diff.trimEnd().split("\n");
  const linesOf = (marks: string) =>
    lines
      .filter(([mark = ""]) => marks.includes(mark))
      .map((line) => `${line.slice(1)}\n`)
      .join("");
  const before = linesOf(" -");
  if (text.split(before).length !== 2) throw new Error(`not found once:\n${before}`);
  return text.replace(before, () => linesOf(" +"));
}

const get = (path: string, headers: Record<string, string> = { cookie: ana.cookie }) =>
  sendRequest(server.url, "GET", path, { headers });

it("compiles with the project's strict settings", async () => {
  const settings = {
    extends: "./tsconfig.pages.json",
    compilerOptions: { incremental: false },
    include: ["src", "plans.config.ts", "next-env.d.ts", ".next/types/**/*.ts"],
  };
  await writeFile(join(copy, "tsconfig.check.json"), JSON.stringify(settings));
  const { stdout } = await run(join(PROJECT, "node_modules/.bin/tsc"), ["-p", "tsconfig.check.json"], {
    cwd: copy,
  }).catch((error) => error);
  expect(stdout).toBe("");
}, 300_000);

it("is formatted as the project's own code", async () => {
  const biome = join(PROJECT, "node_modules/.bin/biome");
  for (const path of [...written].filter((path) => /\.tsx?$/.test(path))) {
    const code = await readFile(join(copy, path), "utf8");
    const args = ["format", `--config-path=${PROJECT}`, `--stdin-file-path=${path}`];
    expect(execFileSync(biome, args, { input: code, encoding: "utf8" })).toBe(code);
  }
});

describe("an operation", () => {
  beforeAll(async () => {
    await test.rows(
      `insert into subscription (id, user_id, provider, provider_subscription_id, plan_id, seats, status,
         cancel_at_period_end, out_of_order)
       values (gen_random_uuid(), $1, 'provider-a', 'm-1', 'team', 5, 'active', false, false),
         (gen_random_uuid(), $1, 'provider-a', 'm-2', 'pro', 2, 'canceled', false, false)`,
      [ana.id],
    );
  });

  it("is offered over REST, RPC and GraphQL, and to service keys", async () => {
    expect((await get("/api/seats")).body).toEqual({ seats: 5 });
    expect((await get("/api/seats?planId=pro")).body).toEqual({ seats: 0 });
    const rpc = await get("/api/trpc/billing.seats");
    expect(rpc.body.result.data.json).toEqual({ seats: 5 });
    const graphql = await sendRequest(server.url, "POST", "/api/graphql", {
      cookie: ana.cookie,
      body: { query: '{ seats(planId: "team") }' },
    });
    expect(graphql.body).toEqual({ data: { seats: 5 } });
    const { key } = await createServiceKey(test, { permissions: ["subscriptions:read"] });
    const response = await get(`/api/seats?user=${ana.id}`, { authorization: `Bearer ${key}` });
    expect(response.body).toEqual({ seats: 5 });
  });

  it("refuses what it declares, and is documented", async () => {
    const refused = await get("/api/v2/seats?planId=gold");
    expect([refused.status, refused.body.reason]).toEqual([400, "plan_unknown"]);
    const { body } = await get("/api/openapi.json");
    expect(body.paths["/seats"].get.summary).toBe("Counts the seats that the caller has subscribed to");
  });
});

it("a table has what a plan allows, counts usage, and goes with its user", async () => {
  const pia = await createUser(test, "Pia");
  const call = (path: string, body: object) =>
    sendRequest(server.url, "POST", path, { cookie: pia.cookie, body });
  const created = await call("/api/projects", { name: "First" });
  expect([created.status, Object.keys(created.body)]).toEqual([201, ["id", "createdAt"]]);
  const refused = await call("/api/v2/projects", { name: "Second" });
  expect([refused.status, refused.body.reason]).toEqual([409, "too_many_projects"]);
  const { body } = await get("/api/entitlements", { cookie: pia.cookie });
  expect(body.features.events.used).toBe(1);
  const projects = () => test.rows("select name from project where user_id = $1", [pia.id]);
  expect(await projects()).toEqual([{ name: "First" }]);
  const deleted = await call("/api/trpc/user.deleteAccount", { json: { confirmation: pia.email } });
  expect([deleted.status, await projects()]).toEqual([200, []]);
});

describe("a page", () => {
  it("shows what it reads, in the reader's language, with an entry in the navigation", async () => {
    const english = await get("/seats");
    expect(english.status).toBe(200);
    expect(english.text).toContain("5 seats");
    expect(english.text).toMatch(/<a [^>]*href="\/seats"/);
    await test.rows(`update "user" set locale = 'de' where id = $1`, [ana.id]);
    expect((await get("/seats")).text).toContain("5 Plätze");
  });

  it("submits its form without JavaScript", async () => {
    const { text } = await get("/seats");
    const form = /<form(?:(?!<\/form>).)*name="name".*?<\/form>/s.exec(text)?.[0] as string;
    const fields = new FormData();
    for (const [input] of form.matchAll(/<input[^>]*>/g)) {
      const [, name] = /name="([^"]*)"/.exec(input) ?? [];
      const [, value = ""] = /value="([^"]*)"/.exec(input) ?? [];
      if (name) fields.append(name, value.replaceAll("&quot;", '"').replaceAll("&amp;", "&"));
    }
    fields.set("name", "Ana Maria");
    const response = await fetch(`${server.url}/seats`, {
      method: "POST",
      body: fields,
      redirect: "manual",
      headers: { cookie: ana.cookie, origin: variables.APP_URL as string },
    });
    expect(response.status).toBe(200);
    expect(await test.rows(`select name from "user" where id = $1`, [ana.id])).toEqual([
      { name: "Ana Maria" },
    ]);
  });
});

it("the name of the product stands on the pages and in authenticator apps", async () => {
  const password = "a long password";
  const account = await sendRequest(server.url, "POST", "/api/auth/sign-up/email", {
    body: { name: "Berta", email: "berta@example.com", password },
  });
  const cookie = cookieOf(account);
  const { text } = await get("/seats", { cookie });
  expect(text).toContain("Acme");
  expect(text).not.toContain("Tollgate");
  const { body } = await sendRequest(server.url, "POST", "/api/auth/two-factor/enable", {
    cookie,
    body: { password },
  });
  expect(new URL(body.totpURI).searchParams.get("issuer")).toBe("Acme");
});

describe("a plan", () => {
  it("is for sale", async () => {
    const { body } = await get("/api/plans?limit=100");
    expect(body.plans).toContainEqual(expect.objectContaining({ id: "business", name: "Business" }));
  });

  it("writes numbers as the pages do in each language", async () => {
    for (const locale of LOCALES) {
      const { body } = await get(`/api/plans?limit=100&locale=${locale}`);
      const plan = body.plans.find(({ id }: { id: string }) => id === "business");
      for (const { value, text } of plan.featureDetails)
        if (typeof value === "number") expect(text).toContain(new Intl.NumberFormat(locale).format(value));
    }
  });

  it("is checked by the doctor", async () => {
    const [doctor = ""] = codeBlocksOf(PLAN).flatMap(({ language, code }) =>
      language === "sh" ? [code] : [],
    );
    const arguments_ = doctor.trim().replace("npm run -s tollgate -- ", "").split(" ");
    const { stdout } = await run(process.execPath, ["src/cli/tollgate.ts", ...arguments_], {
      cwd: copy,
      env: { ...PROCESS_VARIABLES, ...variables },
    });
    expect(stdout).toMatch(/provider-a prices.* 6 known to the provider/);
  });
});

it("a provider takes events in its slot", async () => {
  const body = await readFile(join(PROJECT, "test/fixtures/acme-pay/membership.opened.json"), "utf8");
  const opened = body
    .replace("user_0", ana.id)
    .replace('"21"', '"price_business_monthly"')
    .replace('"m-0"', '"m-3"');
  const sign = { secret: SECRETS["provider-a"], nowSeconds: Date.now() / 1000, eventId: "", eventType: "" };
  const deliver = (headers: Record<string, string>) =>
    fetch(`${server.url}/api/webhooks/provider-a`, { method: "POST", body: opened, headers });
  expect((await deliver({})).status).toBe(400);
  expect((await deliver(acmePay.sign(Buffer.from(opened), sign))).status).toBe(200);
  expect(
    await test.rows("select plan_id as plan, seats from subscription where provider_subscription_id = 'm-3'"),
  ).toEqual([{ plan: "business", seats: 5 }]);
});

describe("a version", () => {
  it("is served beside the others, and described", async () => {
    const plans = await get("/api/v3/plans");
    expect([plans.headers.get("x-api-version"), Object.keys(plans.body)]).toEqual([
      "v3",
      ["data", "nextCursor"],
    ]);
    expect((await get("/api/v3/openapi.json")).body.info.version).toBe("3");
  });

  it("says that it ends, in the headers that the page shows", async () => {
    const { headers } = await get("/api/v1/subscriptions");
    const [shown] = codeBlocksOf(VERSION).filter(({ language }) => language === "http");
    const lines = (shown?.code ?? "").trim().split("\n");
    expect(lines.length).toBe(4);
    for (const line of lines) {
      const [name = "", ...value] = line.split(": ");
      const expected = value.join(": ").replace("https://app.example.com", variables.APP_URL as string);
      expect([name, headers.get(name)]).toEqual([name, expected]);
    }
  });
});
