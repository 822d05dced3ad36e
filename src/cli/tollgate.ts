#!/usr/bin/env node
import { Command } from "commander";
import { concludeFailure } from "./conclude.ts";
import { addDoctor } from "./doctor.ts";
import { addKeys } from "./keys.ts";
import { addSimulate } from "./simulate.ts";
import { addUsers } from "./users.ts";
import { addWebhooks } from "./webhooks.ts";

/** Exit status: 0 done, 1 failed with a sentence on stderr, 2 wrong usage. */
async function main(): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", ignoreClosedPipe);
  try {
    await tollgate().parseAsync(process.argv);
  } catch (error) {
    concludeFailure(error, { json: process.argv.includes("--json") });
  }
}

function tollgate(): Command {
  const program = new Command("tollgate")
    .description(
      "Looks after a Tollgate: the same data folder and variables as the server, which may be running.",
    )
    .exitOverride()
    .showHelpAfterError("(--help shows what is possible)")
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
  addUsers(program);
  addKeys(program);
  addSimulate(program);
  addDoctor(program);
  return program;
}

/** Whoever reads along may stop, as `head` does. */
function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") throw error;
}

await main();
