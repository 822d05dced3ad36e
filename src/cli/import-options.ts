import { type Command, InvalidArgumentError, Option } from "commander";
import type { PaymentApi } from "../domain/payment-api.ts";
import type { Slot } from "../domain/slot.ts";
import type { ImportOptions, ImportReport } from "../import/run-import.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { jsonOption } from "./arguments.ts";
import { conclude } from "./conclude.ts";
import { importText } from "./import-text.ts";
import type { Terminal } from "./terminal.ts";

/** What both imports understand. */
export type ImportOutput = { json?: boolean; dryRun: boolean; notify: boolean };

/** @param databases the values of `--from` that read from another database */
export function addImportOptions(command: Command, databases: string): Command {
  return command
    .addOption(
      new Option("--database-url <url>", `PostgreSQL of the other system, for ${databases}`).argParser(
        postgresUrl,
      ),
    )
    .option("--dry-run", "report what would happen, and change nothing", false)
    .option("--notify", "notify users and emit events; off by default", false)
    .addOption(jsonOption());
}

function postgresUrl(text: string): string {
  if (/^postgres(ql)?:\/\//.test(text)) return text;
  throw new InvalidArgumentError(`Expected ${EXAMPLE_URL}.`);
}

const EXAMPLE_URL = "a URL such as postgres://user@localhost/old";

/** Wrong usage without it. */
export function requireDatabaseUrl(command: Command, from: string, url: string | undefined): string {
  return url ?? command.error(`error: --from ${from} needs the option '--database-url': ${EXAMPLE_URL}`);
}

export function apiOf({ payments }: Runtime, slot: Slot): PaymentApi {
  const api = payments[slot];
  if (api === null) throw new Error(`no payment provider is configured for ${slot}`);
  return api;
}

export function modeOf({ dryRun, notify }: ImportOutput): Pick<ImportOptions, "dryRun" | "notify"> {
  return { dryRun, notify };
}

/** @param payments how many were recorded; `null`: none were asked for */
export function concludeImport(
  terminal: Terminal,
  report: ImportReport,
  options: ImportOutput,
  payments: number | null = null,
): void {
  const { created, updated, skipped, unmatched } = report;
  const json = { created, updated, skipped, unmatched, ...(payments === null ? {} : { payments }) };
  conclude(terminal, { json, text: () => importText(report, { ...options, payments }) }, options);
}
