#!/usr/bin/env node
import { Command } from "commander";
import packageJson from "../../package.json" with { type: "json" };
import { addAudit } from "./audit.ts";
import { addCompletion } from "./completion.ts";
import { concludeFailure } from "./conclude.ts";
import { addDoctor } from "./doctor.ts";
import { addEndpoints } from "./endpoints.ts";
import { addImport } from "./import.ts";
import { addKeys } from "./keys.ts";
import { addSimulate } from "./simulate.ts";
import { addSubscriptions } from "./subscriptions.ts";
import { addUsers } from "./users.ts";
import { addWebhooks } from "./webhooks.ts";

/** Exit status: 0 done, 1 failed with a sentence on stderr, 2 wrong usage. */
async function main(): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", ignoreClosedPipe);
  try {
    await createProgram().parseAsync(process.argv);
  } catch (error) {
    concludeFailure(error, { json: process.argv.includes("--json") });
  }
}

/** The whole command line; nothing is run yet. */
export function createProgram(): Command {
  const program = new Command("tollgate")
    .description(
      "Operates a Tollgate server. Uses the same data folder and variables as the server, which may be running.",
    )
    .version(packageJson.version, "--version", "prints the version")
    .exitOverride()
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
  addWebhooks(program);
  addSubscriptions(program);
  addUsers(program);
  addImport(program);
  addKeys(program);
  addEndpoints(program);
  addAudit(program);
  addSimulate(program);
  addDoctor(program);
  addCompletion(program);
  return program;
}

/** A reader such as `head` may close the pipe. */
function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") throw error;
}

if (import.meta.main) await main();
