import { execFile, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { parseEnv, promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import plans from "../../plans.config.ts";
import { readConfig } from "../../src/config/config.ts";
import { Variables } from "../../src/config/variables.ts";
import { definePlans } from "../../src/domain/plans/plan.ts";
import { type Database, openDatabase } from "../../src/store/database.ts";
import { freePort } from "../support/free-port.ts";
import { sendRequest } from "../support/http.ts";
import { createKey, createUser } from "../support/people.ts";
import { type ServerProcess, spawnServer } from "../support/server-process.ts";
import { createServiceKey } from "../support/service-keys.ts";
import { GENEROUS_LIMITS, PROCESS_VARIABLES, serverVariables } from "../support/variables.ts";
import { type CodeBlock, codeBlocksOf, PAGES, PROJECT } from "./code-block.ts";
import { compilePrograms, linkClient } from "./programs.ts";

/**
 * Pages whose blocks are all run elsewhere, because they need a server or a provider of their own: by
 * language how many of them that test runs, or that it runs whatever there is.
 */
const RUN_ELSEWHERE: Record<string, { test: string; runs: Record<string, number | "all"> | "all" }> = {
  "clients/typescript/README.md": { test: "test/client/package.test.ts", runs: { ts: "all" } },
  "docs/how-to/add-a-page.md": { test: "test/docs/extend-the-project.test.ts", runs: "all" },
  "docs/how-to/add-a-plan.md": { test: "test/docs/extend-the-project.test.ts", runs: "all" },
  "docs/how-to/add-a-plugin.md": { test: "test/docs/add-a-plugin.test.ts", runs: { ts: 1 } },
  "docs/how-to/add-a-provider.md": { test: "test/docs/extend-the-project.test.ts", runs: "all" },
  "docs/how-to/add-a-version.md": { test: "test/docs/extend-the-project.test.ts", runs: "all" },
  "docs/how-to/add-a-table.md": { test: "test/docs/extend-the-project.test.ts", runs: "all" },
  "docs/how-to/add-an-operation.md": { test: "test/docs/extend-the-project.test.ts", runs: "all" },
  "docs/how-to/back-up-and-restore.md": {
    test: "test/system/deploy/back-up-and-restore.test.ts",
    runs: { sh: "all" },
  },
  "docs/how-to/deploy-serverless.md": { test: "test/system/deploy/serverless.test.ts", runs: { sh: 2 } },
  "docs/how-to/make-it-yours.md": { test: "test/docs/extend-the-project.test.ts", runs: "all" },
  "docs/how-to/receive-events.md": { test: "test/docs/receive-events.test.ts", runs: { sh: 2, ts: 3 } },
  "docs/how-to/switch-to-tollgate.md": {
    test: "test/import/switch-guide.test.ts",
    runs: { csv: 1, json: 1, sh: "all", sql: 1 },
  },
  // The help of each command, which has the examples.
  "docs/reference/command-line.md": { test: "test/docs/reference.test.ts", runs: { text: "all" } },
};

/** Blocks that no test can run, by their beginning, with what is checked instead. */
const NOT_RUN: { start: string; because: string; check(block: CodeBlock): Promise<void> | void }[] = [
  {
    start: "script/server",
    because: "script/test runs this test, and both install packages",
    check: ({ code }) => {
      for (const [script = ""] of code.matchAll(/^script\/\w+/gm))
        expect(existsSync(join(PROJECT, script))).toBe(true);
    },
  },
  {
    start: "git clone",
    because: "it needs root and systemd",
    check: ({ code }) => {
      const [unit = ""] = /deploy\/systemd\/\S+/.exec(code) ?? [];
      const directives = readFileSync(join(PROJECT, unit), "utf8");
      const [, folder] = /&& cd (\S+)/.exec(code) ?? [];
      expect(directives).toContain(`WorkingDirectory=${folder}\n`);
      const [, variables] = /\/dev\/null (\S+)/.exec(code) ?? [];
      expect(directives).toContain(`EnvironmentFile=${variables}\n`);
      expect(directives).toContain("npm install && script/build-pages");
    },
  },
  {
    start: "cat >.env",
    because: "it needs a container engine (script/proof container runs it)",
    check: async ({ code }) => {
      const [, file = ""] = /<<'EOF'\n(.*?)^EOF$/ms.exec(code) ?? [];
      const defined = Object.keys(parseEnv(file));
      const compose = await readFile(join(PROJECT, "compose.yml"), "utf8");
      const used = [...compose.matchAll(/\$\{(\w+):([-?])/g)];
      const isKnown = (name: string) => name in Variables.shape || used.some(([, known]) => known === name);
      expect(defined.filter((name) => !isKnown(name))).toEqual([]);
      const required = used.filter(([, , mark]) => mark === "?").map(([, name]) => name);
      expect(required.filter((name) => !defined.includes(name as string))).toEqual([]);
      expect(parse(compose).services.tollgate).toBeDefined();
    },
  },
  {
    start: "stripe login",
    because: "it needs an account at Stripe",
    check: async ({ code }) => {
      const [, path = ""] = /--forward-to localhost:3000(\S+)/.exec(code) ?? [];
      const { status, body } = await sendRequest(server.url, "POST", path, { body: {} });
      expect([status, body]).toEqual([400, { error: "Invalid signature" }]);
    },
  },
];

/** Commands that end with another status than 0 here, by how they begin. */
const STATUSES: Record<string, { status: number; because: string }> = {
  "doctor --production": { status: 1, because: "this server is not made for production" },
  "webhooks verify": { status: 3, because: "no provider knows the subscription to review" },
  "webhooks reconcile --subscription": { status: 1, because: "no provider knows it" },
};

/** What the programs of a page print. */
const OUTPUTS: Record<string, unknown[]> = {
  "README.md": ["Ana true"],
  "docs/how-to/ask-from-another-service.md": ["allowed plan 1000", "used 3", "repeated 3"],
  "docs/how-to/call-from-a-browser.md": ["{ subscriptions: [], nextCursor: null }"],
  "docs/how-to/test-your-billing.md": ["active", "past_due", "active"],
};

let folder: string;
/** Of the server, and of the commands. */
let variables: Record<string, string>;
let server: ServerProcess;
let userKey: string;
let serviceKey: string;
let subscriptionId: string;

const blocks = PAGES.flatMap((page) => codeBlocksOf(page));
const runHere = blocks.filter(({ page }) => RUN_ELSEWHERE[page] === undefined);
const inLanguage = (...languages: string[]) => runHere.filter(({ language }) => languages.includes(language));
const titleOf = ({ page, line, language }: CodeBlock) => `${page}:${line} (${language})`;
const isLong = ({ code }: CodeBlock) => code.includes(" simulate ");
const notRun = ({ code }: CodeBlock) => NOT_RUN.find(({ start }) => code.startsWith(start));

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tollgate-docs-"));
  await chmod(folder, 0o755);
  const [corsBlock] = codeBlocksOf("docs/how-to/call-from-a-browser.md");
  const [port, simulatorPort] = [await freePort(), await freePort()];
  variables = {
    ...GENEROUS_LIMITS,
    ...parseEnv(corsBlock?.code ?? ""),
    // Sessions of tests are signed with it.
    AUTH_SECRET: serverVariables("").AUTH_SECRET as string,
    DATA_DIR: join(folder, ".data"),
    PORT: String(port),
    SIMULATOR: "on",
    SIMULATOR_PORT: String(simulatorPort),
    SELF_HEAL: "off",
    RECONCILE: "off",
  };
  server = await spawnServer(null, variables);
  await linkClient(folder);
  await seed();
});
afterAll(async () => {
  await server?.end("SIGTERM");
  if (folder) await rm(folder, { recursive: true, force: true });
});

/** The server's database, as an operator reaches it. */
async function openEmbedded(): Promise<Database> {
  const postgres = join(folder, ".data/postgres");
  const [port, password] = await Promise.all([
    readFile(join(postgres, "port"), "utf8"),
    readFile(join(postgres, "password"), "utf8"),
  ]);
  const url = `postgres://tollgate:${encodeURIComponent(password.trim())}@127.0.0.1:${port.trim()}/postgres`;
  return openDatabase({ url, prepared: true, maxConnections: 1, answerTimeoutMs: 30_000 });
}

/** What the pages assume to exist: an account, keys, a subscription to review. */
async function seed(): Promise<void> {
  const database = await openEmbedded();
  const rows = async <Row>(text: string, values: readonly unknown[] = []) =>
    (await database.run({ name: "", text }, [...values])) as Row[];
  const ana = await createUser({ rows } as never, "Ana");
  ({ key: userKey } = await createKey(server.url, ana));
  ({ key: serviceKey } = await createServiceKey({ database }));
  await rows(`insert into "user" (id, name, email) values ('you', 'You', 'you@example.com')`);
  const [subscription] = await rows<{ id: string }>(
    `insert into subscription (id, user_id, provider, provider_subscription_id, plan_id, seats, status,
       cancel_at_period_end, out_of_order)
     values (gen_random_uuid(), 'you', 'provider-a', 'sub_review', 'pro', 1, 'canceled', false, true) returning id`,
  );
  subscriptionId = (subscription as { id: string }).id;
  await database.close();
}

/** With what only the reader knows. */
function filledIn(code: string): string {
  return code
    .replaceAll(/(localhost|127\.0\.0\.1):3000/g, new URL(server.url).host)
    .replaceAll("https://tollgate.example.com", server.url)
    .replaceAll("tg_...", userKey)
    .replaceAll(/<our id( or the provider's)?>/g, subscriptionId);
}

/** Fails for refused requests and failing commands. Replaces `npm run`, which starts slowly. */
const PRELUDE = `set -euo pipefail
curl() { command curl -sS --fail-with-body "$@"; }
npm() {
  [ "$1 $2 $3 $4" = "run -s tollgate --" ] || { echo "npm $*: unexpected" >&2; return 1; }
  shift 4
  local status=0 expected=0
  "${process.execPath}" "${join(PROJECT, "src/cli/tollgate.ts")}" "$@" || status=$?
  case "$*" in
${Object.entries(STATUSES)
  .map(([command, { status }]) => `    "${command}"*) expected=${status} ;;`)
  .join("\n")}
  esac
  [ "$status" = "$expected" ] || { echo "exit status $status, not $expected: tollgate $*" >&2; return 1; }
}
`;

async function runShell(code: string): Promise<string> {
  const child = spawn("bash", ["-c", PRELUDE + filledIn(code)], {
    cwd: folder,
    env: { ...PROCESS_VARIABLES, ...variables },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr, status] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise((resolve) => child.on("close", resolve)),
  ]);
  expect({ status, output: status === 0 ? "" : stdout + stderr }).toEqual({ status: 0, output: "" });
  return stdout;
}

describe("every code block", () => {
  it("is fenced, with a language that a test runs", () => {
    const languages = ["sh", "bash", "sql", "ts", "ts plan", "env"];
    expect(runHere.filter(({ language }) => !languages.includes(language)).map(titleOf)).toEqual([]);
    expect(runHere.length).toBeGreaterThan(30);
  });

  it.each(Object.entries(RUN_ELSEWHERE))("of %s is run by $test", (page, { test, runs }) => {
    const languages = Map.groupBy(codeBlocksOf(page), ({ language }) => language);
    const counts = Object.fromEntries([...languages].map(([language, { length }]) => [language, length]));
    const expected = Object.entries(runs === "all" ? counts : runs).map(([language, count]) => [
      language,
      count === "all" ? (languages.get(language)?.length ?? 0) : count,
    ]);
    expect(counts).toEqual(Object.fromEntries(expected));
    expect(languages.size).toBeGreaterThan(0);
    const name = page.split("/").at(-1) as string;
    expect(readFileSync(join(PROJECT, test), "utf8")).toContain(name);
  });

  it("is found in any notation", () => {
    const page = "Text\n\n    indented\n\n~~~sh\na\n~~~\n- item\n\n  ```\n  b\n  ```\n```ts\nnever closed";
    expect(codeBlocksOf("x.md", page).map(({ language, code }) => [language, code])).toEqual([
      ["", "indented\n"],
      ["sh", "a\n"],
      ["", "  b\n"],
      ["", "never closed\n"],
    ]);
  });
});

describe("variables", () => {
  it.each(inLanguage("env").map((block) => [titleOf(block), block] as const))(
    "are accepted: %s",
    (_name, block) => {
      const variables = parseEnv(block.code.replaceAll(/=(.*)\.\.\.$/gm, "=$1aaaaaaaaaaaaaaaaaaaaaaaa"));
      expect(Object.keys(variables).length).toBeGreaterThan(0);
      expect(() => readConfig(variables)).not.toThrow();
    },
  );
});

describe("parts of plans.config.ts", () => {
  it.each(inLanguage("ts plan").map((block) => [titleOf(block), block] as const))(
    "are accepted: %s",
    (_name, block) => {
      const part = new Function(`return ({ ${block.code} })`)();
      const changed = plans.plans.map((plan) => (plan.id === "pro" ? { ...plan, ...part } : plan));
      expect(definePlans(changed as never).plans).toContainEqual(expect.objectContaining(part));
    },
  );
});

describe("commands", () => {
  // A thousand simulated events, which others would have to go through, come last.
  const commands = inLanguage("sh", "bash").sort((a, b) => Number(isLong(a)) - Number(isLong(b)));
  // A block that occurs on several pages is run once.
  const once = commands.filter(
    (block, index) => commands.findIndex(({ code }) => code === block.code) === index,
  );

  const runnable = once.filter((block) => notRun(block) === undefined);
  const checked = once.flatMap((block) => {
    const exception = notRun(block);
    return exception === undefined ? [] : [{ name: titleOf(block), block, ...exception }];
  });

  it.each(checked)("are compared, not run, as $because: $name", ({ block, check }) => check(block));

  it.each(runnable.map((block) => [titleOf(block), block] as const))("work: %s", async (_name, block) => {
    const output = await runShell(block.code);
    if (block.code.includes("webhooks/provider-a -H")) expect(output).toContain('{"received":true}');
  });

  it("that are not run still exist", () => {
    expect(NOT_RUN.filter(({ start }) => !commands.some(({ code }) => code.startsWith(start)))).toEqual([]);
    const all = commands.map(({ code }) => code).join("");
    expect(
      Object.keys(STATUSES).filter((command) => !all.includes(`npm run -s tollgate -- ${command}`)),
    ).toEqual([]);
  });
});

describe("statements", () => {
  it.each(inLanguage("sql").map((block) => [titleOf(block), block] as const))(
    "work: %s",
    async (_name, { code }) => {
      const database = await openEmbedded();
      await database.run({ name: "", text: code }, []).finally(() => database.close());
    },
  );
});

describe("programs", () => {
  const pages = [...new Set(inLanguage("ts").map(({ page }) => page))];
  const programOf = (page: string) => `${page.replaceAll(/\W/g, "-")}.ts`;

  it("compile", async () => {
    for (const page of pages) {
      const code = inLanguage("ts").filter((block) => block.page === page);
      await writeFile(
        join(folder, programOf(page)),
        `${filledIn(code.map((block) => block.code).join("\n"))}\nexport {};\n`,
      );
    }
    expect(await compilePrograms(folder)).toBe("");
  });

  it.each(pages)("print the documented output: %s", async (page) => {
    const { stdout } = await promisify(execFile)(process.execPath, [programOf(page)], {
      cwd: folder,
      env: {
        ...PROCESS_VARIABLES,
        TOLLGATE_URL: server.url,
        SIMULATOR_URL: `http://127.0.0.1:${variables.SIMULATOR_PORT}`,
        SERVICE_KEY: serviceKey,
      },
    });
    expect(stdout.trimEnd().split("\n")).toEqual(OUTPUTS[page]);
  });
});
