import { spawnSync } from "node:child_process";
import { closeSync, existsSync, openSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ENTRY, tollgateIn, tollgateProcessIn } from "./tollgate.ts";

// Nothing listens there: wrong usage must be reported without a database.
const tollgate = tollgateIn({ DATABASE_URL: "postgres://nobody@127.0.0.1:1/none", PORT: "1" });

const COMMANDS: Record<string, string[]> = {
  "": ["webhooks", "users", "keys", "simulate", "doctor", "completion", "--version", "--json"],
  webhooks: ["list", "show", "replay", "retry"],
  "webhooks list": ["--status", "--slot", "--limit", "--cursor", "--json", "pending", "provider-c"],
  "users list": ["--limit", "--cursor", "--json"],
  "endpoints create": ["--types", "--description", "--json"],
  "endpoints deliveries": ["--limit", "--cursor", "--status", "--json"],
  "endpoints list": ["--limit", "--cursor", "--json"],
  "endpoints replay": ["--json"],
  "endpoints test": ["--json"],
  "endpoints update": [
    "--url",
    "--types",
    "--description",
    "--pause",
    "--resume",
    "--rotate-secret",
    "--json",
  ],
  "audit list": ["--action", "--actor", "--target", "--from", "--to", "--limit", "--cursor", "--json"],
  "keys list": ["--user", "--limit", "--cursor", "--json"],
  "webhooks show": ["<id>", "--json"],
  "webhooks replay": ["[id]", "--force", "--failed", "--slot", "--json"],
  "webhooks retry": ["--json"],
  users: ["create"],
  "users create": ["--count", "--id-prefix", "user_", "--json"],
  simulate: [
    ...["--slot", "--events", "--duplicates", "--shuffle", "--corrupt", "--concurrency", "--rate"],
    ...["--seed", "--url", "--json"],
  ],
};

const WRONG: [string, RegExp][] = [
  ["", /Usage: tollgate/],
  ["webhooks", /Usage: tollgate webhooks/],
  ["frobnicate", /unknown command/],
  ["webhooks frobnicate", /unknown command/],
  ["webhooks list --colour", /unknown option/],
  ["webhooks list more", /too many arguments/],
  ["webhooks list --status open", /Allowed choices are pending, successful, failed/],
  ["webhooks list --slot provider-d", /Allowed choices/],
  ["webhooks list --limit 0", /--limit.*from 1 to 1000/],
  ["webhooks list --limit", /argument missing/],
  ["webhooks show", /missing required argument 'id'/],
  ["webhooks show evt_1", /Expected an id such as 42/],
  ["webhooks replay 99999999999999999999", /Expected an id such as 42/],
  ["webhooks replay", /missing required argument 'id', or the option '--failed'/],
  ["webhooks replay --slot provider-a", /missing required argument 'id', or the option '--failed'/],
  ["webhooks replay 1 --failed", /argument 'id' cannot be used with '--failed' or '--slot'/],
  ["webhooks replay --failed --force", /'--failed' cannot be used with option '--force'/],
  ["users create", /required option '--count/],
  ["users create --count 1000001", /from 1 to 1000000/],
  ["users create --count 1e3", /whole number/],
  ["users create --count 1 --id-prefix 7", /Expected a letter/],
  ["endpoints update 0d4c2f6e-6c3b-4a53-9d0a-3f1f6a0e7b11", /nothing to change: .*--pause/],
  ["import users --from excel", /--from.*Expected a file ending in \.csv or \.json, better-auth or stripe/],
  ["import users --from better-auth", /--database-url.*postgres:\/\//],
  ["import users --from better-auth --database-url mysql://old", /expected a URL such as postgres:/],
  [
    "import users --from better-auth --database-url postgres://me:%ff@old",
    /expected a URL such as postgres:/,
  ],
  ["import subscriptions --slot provider-a --from sync-engine", /--database-url.*postgres:\/\//],
  ["simulate", /required option '--slot/],
  ["simulate --slot provider-a --duplicates 1.5", /from 0 to 1/],
  ["simulate --slot provider-a --concurrency 0", /from 1 to 1000/],
  ["simulate --slot provider-a --url http://example.com", /Only this machine/],
  ["simulate --slot provider-a --url https://example.com", /Only this machine/],
  ["simulate --slot provider-a --url http://127.0.0.1.example.com", /Only this machine/],
  ["simulate --slot provider-a --url https://127.0.0.1", /Expected an origin/],
  ["simulate --slot provider-a --url http://me@127.0.0.1", /Expected an origin/],
];

describe("help", () => {
  it.each(Object.entries(COMMANDS))("lists every option of '%s'", async (command, words) => {
    const { code, stdout, stderr } = await tollgate(...wordsOf(command), "--help");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    for (const word of words) expect(stdout).toContain(word);
    if (!["webhooks", "users", "keys"].includes(command)) expect(stdout).toContain("npm run -s tollgate -- ");
  });
});

describe("wrong usage", () => {
  it.each(WRONG)("reports wrong usage of '%s' on stderr, exit status 2", async (command, message) => {
    const { code, stdout, stderr } = await tollgate(...wordsOf(command));
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(message);
  });

  it("does not print the password in a URL", async () => {
    const wrong = ["import", "users", "--from", "better-auth", "--database-url", "mysql://me:a-password@old"];
    const { code, stdout, stderr } = await tollgate(...wrong, "--json");
    expect({ code, output: stdout + stderr }).toEqual({
      code: 2,
      output: expect.not.stringContaining("a-password"),
    });
  });

  it.each([
    ...WRONG.filter(([, { source }]) => !/Usage|argument missing/.test(source)),
    ["webhooks", /^unknown option '--json'$/] as const,
    ["keys create --service", /^required option '--name <name>' not specified$/] as const,
  ])("prints wrong usage of '%s' on stdout too with --json", async (command, message) => {
    const { code, stdout, stderr } = await tollgate(...wordsOf(command), "--json");
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toEqual({ error: expect.stringMatching(message) });
    expect(JSON.parse(stdout).error).not.toMatch(/^error|\n|see --help/);
    expect(stderr).toMatch(/^error: /);
  });
});

describe("the process", () => {
  it("exits with 0 for help, 2 for wrong usage", async () => {
    const started = tollgateProcessIn({});
    expect(await started("--help")).toEqual(await tollgate("--help"));
    expect(await started("frobnicate")).toEqual(await tollgate("frobnicate"));
  });

  it.skipIf(!existsSync("/dev/full"))("says on one line that its output cannot be written", () => {
    const full = openSync("/dev/full", "w");
    const { status, stderr } = spawnSync(process.execPath, [ENTRY, "--help"], {
      stdio: ["ignore", full, "pipe"],
      encoding: "utf8",
    });
    closeSync(full);
    expect(status).toBe(1);
    expect(stderr).toMatch(/^the output could not be written: ENOSPC.*\n$/);
  });
});

describe("a failure", () => {
  it("names the invalid variable, exit status 1", async () => {
    const bad = tollgateProcessIn({ PORT: "many" });
    const line = "PORT: expected a whole number, e.g. 3000\n";
    expect(await bad("webhooks", "list")).toEqual({ code: 1, stdout: "", stderr: line });
    expect(await bad.json("webhooks", "list")).toEqual({ error: line.trim() });
  });

  it("says that the database cannot be reached, and why", async () => {
    const sentence =
      "DATABASE_URL: the database cannot be reached: connect ECONNREFUSED 127.0.0.1:1, e.g. DATABASE_URL=postgres://user:password@localhost:5432/tollgate";
    const { code, stdout, stderr } = await tollgate("users", "list", "--json");
    expect([code, JSON.parse(stdout), stderr]).toEqual([1, { error: sentence }, `${sentence}\n`]);
  });

  it("says how to start a server when there is none", async () => {
    const { code, stdout, stderr } = await tollgate("simulate", "--slot", "provider-a");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toBe("nothing listens at http://127.0.0.1:1: start the server with script/server\n");
  });
});

function wordsOf(command: string): string[] {
  return command.split(" ").filter(Boolean);
}
