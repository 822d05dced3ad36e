import { DefinitionError } from "../domain/parse-definitions.ts";

/*
 * Files such as plans.config.ts are checked while modules are imported, before an entry point could catch what they
 * throw, and Node would print it as a crash. Entry points import this first: it prints the mistakes alone.
 */
process.on("uncaughtExceptionMonitor", (error) => {
  if (!(error instanceof DefinitionError)) return;
  if (process.argv.includes("--json")) process.stdout.write(`${JSON.stringify({ error: error.message })}\n`);
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
});
