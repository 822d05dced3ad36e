#!/usr/bin/env node
import "../config/report-definition-errors.ts";
import { Command } from "commander";
import packageJson from "../../package.json" with { type: "json" };
import { addAudit } from "./commands/audit.ts";
import { addCompletion } from "./commands/completion.ts";
import { addDoctor } from "./commands/doctor.ts";
import { addEndpoints } from "./commands/endpoints.ts";
import { addImport } from "./commands/import.ts";
import { addKeys } from "./commands/keys.ts";
import { addSimulate } from "./commands/simulate.ts";
import { addSubscriptions } from "./commands/subscriptions.ts";
import { addUsers } from "./commands/users.ts";
import { addWebhooks } from "./commands/webhooks.ts";
import { concludeFailure } from "./conclude.ts";
import { reportOutputErrors } from "./report-output-errors.ts";
import type { Terminal } from "./terminal.ts";

/** Exit code: 0 done, 1 failed with a sentence on stderr, 2 wrong usage, 3 drift from a provider. */
export async function runCommand(args: readonly string[], terminal: Terminal): Promise<void> {
  const json = args.includes("--json");
  let command: Command | null = null;
  const program = createProgram(terminal, { json }).hook("preAction", (_, running) => {
    command = running;
  });
  try {
    await program.parseAsync(args, { from: "user" });
  } catch (error) {
    concludeFailure(terminal, error, { json, command });
  }
}

/** The whole command line; nothing is run yet. */
export function createProgram(terminal: Terminal, { json = false } = {}): Command {
  const { version } = packageJson;
  const program = new Command("tollgate")
    .description(
      "Operates a Tollgate server. Uses the same data folder and variables as the server, which may be running.",
    )
    .version(json ? JSON.stringify({ version }) : version, "--version", "prints the version")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.stdout.write(text),
      writeErr: (text) => terminal.stderr.write(text),
    })
    .showHelpAfterError("(see --help)")
    .addHelpText(
      "after",
      `
Run it as: npm run -s tollgate -- <command>
With --json, every command prints one JSON value on stdout and nothing else.

Examples:
  npm run -s tollgate -- doctor
  npm run -s tollgate -- webhooks list --status failed
  npm run -s tollgate -- users promote somebody@example.com
  npm run -s tollgate -- simulate --slot provider-a --events 1000`,
    );
  addWebhooks(program, terminal);
  addSubscriptions(program, terminal);
  addUsers(program, terminal);
  addImport(program, terminal);
  addKeys(program, terminal);
  addEndpoints(program, terminal);
  addAudit(program, terminal);
  addSimulate(program, terminal);
  addDoctor(program, terminal);
  addCompletion(program, terminal);
  return program;
}

if (import.meta.main) {
  reportOutputErrors();
  await runCommand(process.argv.slice(2), process);
}
