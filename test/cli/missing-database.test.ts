import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createProgram } from "../../src/cli/tollgate.ts";
import { cleanUp } from "../support/cleanup.ts";
import { emptyDatabase } from "../support/database.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { serverVariables } from "../support/variables.ts";
import { tollgateIn } from "./tollgate.ts";

const ID = "00000000-0000-4000-8000-000000000000";
/** Arguments of these commands; others get an id for each argument. */
const ARGUMENTS: Record<string, string[]> = {
  "webhooks show": ["1"],
  "webhooks replay": ["1"],
  "webhooks reconcile": ["--dry-run"],
  "subscriptions dismiss": [ID, "--reason", "refunded"],
  "users promote": ["somebody@example.com"],
  "users demote": ["somebody@example.com"],
  "import subscriptions": ["--slot", "provider-a", "--from", "provider"],
  "keys create": ["--service", "--name", "shop", "--permissions", "users:read"],
  "endpoints create": ["https://example.com/events"],
  "endpoints update": [ID, "--pause"],
};
/**
 * May be the first to use a data folder, or need no database; doctor is tested below, simulate needs a
 * server.
 */
const OTHERS = ["users create", "import users", "completion", "doctor", "simulate"];

const COMMANDS = createProgram(process)
  .commands.flatMap((command) =>
    command.commands.length === 0
      ? [{ name: command.name(), command }]
      : command.commands.map((subcommand) => ({
          name: `${command.name()} ${subcommand.name()}`,
          command: subcommand,
        })),
  )
  .filter(({ name }) => !OTHERS.includes(name))
  .map(({ name, command }) => {
    const ids = command.registeredArguments.filter(({ required }) => required).map(() => ID);
    return [...name.split(" "), ...(ARGUMENTS[name] ?? ids)];
  });

let folder: string;
beforeEach(async () => {
  folder = join(await temporaryFolder(), "mistyped");
});
afterEach(cleanUp);

describe("a command that needs an existing database", () => {
  it.each(COMMANDS.map((command) => [command.join(" "), command] as const))(
    "creates nothing in a mistyped DATA_DIR: %s",
    async (_line, command) => {
      const { code, stdout, stderr } = await tollgateIn({ DATA_DIR: folder })(...command);
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr).toBe(
        `DATA_DIR: there is no database in ${folder}: set DATA_DIR to the server's folder, or run script/server first\n`,
      );
      expect(existsSync(folder)).toBe(false);
    },
  );

  it("creates no tables in an empty database", async () => {
    const empty = await emptyDatabase();
    const { code, stderr } = await tollgateIn(serverVariables(empty.url))("users", "list");
    expect(code).toBe(1);
    expect(stderr).toMatch(/^DATABASE_URL: this database has no Tollgate tables: [^\n]+\n$/);
    expect(await empty.rows("select to_regclass('schema_migration') as found")).toEqual([{ found: null }]);
    await empty.drop();
  });

  it("creates nothing when it is doctor either", async () => {
    const { findings } = await tollgateIn({ DATA_DIR: folder, PORT: "1" }).json("doctor");
    expect(findings).toContainEqual({
      check: "database",
      state: "broken",
      detail: `there is none in ${folder}`,
      remedy: "Set DATA_DIR to the server's folder, or run script/server, which creates the database.",
    });
    expect(existsSync(folder)).toBe(false);
  });

  it.each([
    ["of its own", {}],
    [
      "and a simulator beside DATABASE_URL",
      { ...serverVariables("postgres://127.0.0.1:1/x"), SIMULATOR: "on" },
    ],
  ])("has doctor say that the first start generates what is missing: %s", async (_, variables) => {
    const settings = { ...variables, DATA_DIR: folder, PORT: "1", PROVIDER_A_WEBHOOK_SECRET: "" };
    const { findings } = await tollgateIn(settings).json("doctor");
    expect(findings).toContainEqual({
      check: "provider-a webhook",
      state: "skipped",
      detail: "its secret is generated when the server first starts",
      remedy: null,
    });
    expect(findings).toContainEqual({
      check: "provider-a key",
      state: "skipped",
      detail: "the simulator's, which is generated when the server first starts",
      remedy: null,
    });
    expect(existsSync(folder)).toBe(false);
  });
});
