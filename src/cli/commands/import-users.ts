import { type Command, InvalidArgumentError, Option } from "commander";
import { SLOTS, type Slot } from "../../domain/slot.ts";
import { withForeignDatabase } from "../../import/foreign-database.ts";
import { importUsers } from "../../import/import-users.ts";
import type { ImportReport, Source } from "../../import/run-import.ts";
import { betterAuthUsers } from "../../import/sources/better-auth.ts";
import { stripeCustomers } from "../../import/sources/stripe-customers.ts";
import { userFile } from "../../import/sources/user-file.ts";
import type { SourceUser } from "../../import/user-row.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { withCounter } from "../output/progress.ts";
import type { Terminal } from "../terminal.ts";
import { withRuntime } from "../with-runtime.ts";
import {
  addImportOptions,
  apiOf,
  concludeImport,
  type ImportOutput,
  requireDatabaseUrl,
  runOptions,
} from "./import-options.ts";

type UserOptions = ImportOutput & { from: string; slot?: Slot; databaseUrl?: string };

export function addImportUsers(importing: Command, terminal: Terminal): void {
  addImportOptions(importing.command("users"), "better-auth")
    .description("imports users without passwords, which they set by the password reset link")
    .requiredOption(
      "--from <source>",
      "a file ending in .csv or .json, better-auth, or stripe (its customers)",
      userSource,
    )
    .addOption(new Option("--slot <slot>", "the slot of the Stripe account, for stripe").choices(SLOTS))
    .addHelpText(
      "after",
      `
A file has the columns (or objects with the keys) id, externalId, email, name, locale; only email is required.
Further ones are ignored, misspelt ones like external_id refused.
Rows that are invalid, or that name another account's id or address, are listed and left out. An interrupted import continues
where it stopped when it is run again with the same input and key.

Examples:
  npm run -s tollgate -- import users --from users.csv --dry-run
  npm run -s tollgate -- import users --from better-auth --database-url postgres://localhost/old
  npm run -s tollgate -- import users --from stripe --slot provider-a --json`,
    )
    .action(async (options: UserOptions, command: Command) => {
      const databaseUrl =
        options.from === "better-auth"
          ? requireDatabaseUrl(command, options.from, options.databaseUrl)
          : null;
      const report = await withRuntime(
        terminal,
        (runtime) =>
          withUserSource(runtime, { ...options, databaseUrl }, (source) =>
            withCounter(terminal, (progressed) =>
              importUsers(runtime.intake, source, { ...runOptions(terminal, options), progressed }),
            ),
          ),
        { createsDatabase: true },
      );
      concludeImport(terminal, report, options);
    });
}

function userSource(text: string): string {
  if (isFile(text) || text === "better-auth" || text === "stripe") return text;
  throw new InvalidArgumentError("Expected a file ending in .csv or .json, better-auth or stripe.");
}

function isFile(source: string): boolean {
  return /\.(csv|json)$/i.test(source);
}

async function withUserSource(
  runtime: Runtime,
  options: Pick<UserOptions, "from" | "slot"> & { databaseUrl: string | null },
  work: (source: Source<SourceUser>) => Promise<ImportReport>,
): Promise<ImportReport> {
  const { from, databaseUrl } = options;
  if (isFile(from)) return work(await userFile(from));
  if (databaseUrl !== null)
    return withForeignDatabase(databaseUrl, (foreign) => work(betterAuthUsers(foreign)));
  const slot = options.slot ?? SLOTS.find((candidate) => runtime.payments[candidate]?.listCustomerPage);
  if (slot === undefined) throw new Error("no slot has an API key of Stripe");
  const { api, account } = apiOf(runtime, slot);
  const { listCustomerPage } = api;
  if (listCustomerPage === null) throw new Error(`${slot} is not Stripe: only its customers can be imported`);
  return work(stripeCustomers(slot, { listCustomerPage, account }));
}
