import type { Command } from "commander";
import { databaseUrl } from "../../config/kinds.ts";
import { noProviderFor } from "../../domain/providers/no-provider.ts";
import type { PaymentApi } from "../../domain/providers/payment-api.ts";
import type { Slot } from "../../domain/slot.ts";
import { type ImportOptions, type ImportReport, LEASE_SECONDS } from "../../import/run-import.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { jsonOption } from "../arguments.ts";
import { conclude } from "../conclude.ts";
import { importText } from "../output/import-text.ts";
import type { Terminal } from "../terminal.ts";

/** What both imports understand. */
export type ImportOutput = { json?: boolean; dryRun: boolean; notify: boolean };

/** @param databases the values of `--from` that read from another database */
export function addImportOptions(command: Command, databases: string): Command {
  return command
    .option("--database-url <url>", `PostgreSQL of the other system, for ${databases}`)
    .option("--dry-run", "report what would happen, and change nothing", false)
    .option("--notify", "notify users and emit events; off by default", false)
    .addOption(jsonOption());
}

const EXAMPLE_URL = "a URL such as postgres://user@localhost/old";

/** Wrong usage without it, or with another URL. */
export function requireDatabaseUrl(command: Command, from: string, url: string | undefined): string {
  if (url === undefined)
    return command.error(`error: --from ${from} needs the option '--database-url': ${EXAMPLE_URL}`);
  const parsed = databaseUrl.safeParse(url);
  if (parsed.success) return url;
  // Not by a parser of the option: Commander quotes what it refuses, and the URL may contain a password.
  return command.error(`error: option '--database-url': ${parsed.error.issues[0]?.message}`);
}

export function apiOf(
  { payments, providerAccounts }: Runtime,
  slot: Slot,
): { api: PaymentApi; account: string } {
  const [api, account] = [payments[slot], providerAccounts[slot]];
  if (api === null || account === null) throw new Error(noProviderFor(slot));
  return { api, account };
}

export function runOptions(
  { stderr }: Terminal,
  { dryRun, notify }: ImportOutput,
): Pick<ImportOptions, "dryRun" | "notify" | "waiting"> {
  const waiting = () =>
    void stderr.write(
      `waiting: the same import is running, or was interrupted within the last ${LEASE_SECONDS} seconds\n`,
    );
  return { dryRun, notify, waiting };
}

/** @param payments how many were recorded; `null`: none were asked for */
export function concludeImport(
  terminal: Terminal,
  report: ImportReport,
  options: ImportOutput,
  payments: number | null = null,
): void {
  const text = () => importText(report, { ...options, payments });
  conclude(terminal, { json: report, text }, options);
}
