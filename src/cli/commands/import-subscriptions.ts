import { type Command, Option } from "commander";
import { SLOTS, type Slot } from "../../domain/slot.ts";
import { withForeignDatabase } from "../../import/foreign-database.ts";
import { importPayments } from "../../import/import-payments.ts";
import { importSubscriptions } from "../../import/import-subscriptions.ts";
import { Mapping, NO_MAPPING } from "../../import/mapping.ts";
import { readInputFile } from "../../import/read-input-file.ts";
import type { ImportReport, Source } from "../../import/run-import.ts";
import { betterAuthSubscriptions } from "../../import/sources/better-auth.ts";
import { providerSubscriptions } from "../../import/sources/provider.ts";
import { syncEngineSubscriptions } from "../../import/sources/sync-engine.ts";
import type { SubscriptionRow } from "../../import/subscription-row.ts";
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

const SUBSCRIPTION_SOURCES = ["provider", "sync-engine", "better-auth"] as const;

type SubscriptionOptions = ImportOutput & {
  from: (typeof SUBSCRIPTION_SOURCES)[number];
  slot: Slot;
  databaseUrl?: string;
  schema: string;
  map?: string;
};

export function addImportSubscriptions(importing: Command, terminal: Terminal): void {
  addImportOptions(importing.command("subscriptions"), "sync-engine and better-auth")
    .description("imports subscriptions, ended ones too, by the same rules as a comparison with the provider")
    .addOption(new Option("--slot <slot>", "the slot they belong to").choices(SLOTS).makeOptionMandatory())
    .addOption(
      new Option("--from <source>", "the provider's list, or tables of another system")
        .choices(SUBSCRIPTION_SOURCES)
        .default("provider"),
    )
    .option("--schema <name>", "the schema of sync-engine's tables", "stripe")
    .option("--map <file>", "JSON file that maps customer ids and addresses to users")
    .addHelpText(
      "after",
      `
A subscription is assigned to the user whose id or external id its metadata contains, or else to its customer's user. A
mapping assigns the others: { "customers": { "cus_1": "user_1" }, "emails": { "ann@example.com": "user_2" } }.
Subscriptions without a user are listed and left out. An interrupted import continues where it stopped. Where the provider can
be asked, the subscriptions' payments are recorded too; a payment that cannot be recorded is listed and left out.

Examples:
  npm run -s tollgate -- import subscriptions --slot provider-a --from provider --dry-run
  npm run -s tollgate -- import subscriptions --slot provider-a --from provider --map mapping.json
  npm run -s tollgate -- import subscriptions --slot provider-a --from sync-engine --database-url postgres://localhost/old`,
    )
    .action(async (options: SubscriptionOptions, command: Command) => {
      const databaseUrl =
        options.from === "provider" ? null : requireDatabaseUrl(command, options.from, options.databaseUrl);
      const mapping = options.map === undefined ? NO_MAPPING : await readMapping(options.map);
      const { slot } = options;
      const [report, payments] = await withRuntime(terminal, async (runtime) => {
        const imported = await withSubscriptionSource(
          runtime,
          { ...options, databaseUrl },
          mapping,
          (source) =>
            withCounter(terminal, (progressed) =>
              importSubscriptions(runtime.intake, { slot, mapping, api: runtime.payments[slot] }, source, {
                ...runOptions(terminal, options),
                progressed,
              }),
            ),
        );
        return [imported, await importPaymentsOf(runtime, options)] as const;
      });
      const unmatched = [...report.unmatched, ...(payments?.unmatched ?? [])];
      concludeImport(terminal, { ...report, unmatched }, options, payments?.recorded ?? null);
    });
}

/** `null`: nobody was asked. */
async function importPaymentsOf(
  { intake, payments }: Runtime,
  { slot, dryRun, notify }: SubscriptionOptions,
) {
  const api = payments[slot];
  return dryRun || api === null ? null : importPayments(intake, { slot, api }, { notify });
}

async function withSubscriptionSource(
  runtime: Runtime,
  {
    from,
    slot,
    databaseUrl,
    schema,
  }: Pick<SubscriptionOptions, "from" | "slot" | "schema"> & { databaseUrl: string | null },
  mapping: Mapping,
  work: (source: Source<SubscriptionRow>) => Promise<ImportReport>,
): Promise<ImportReport> {
  if (databaseUrl === null) return work(providerSubscriptions(slot, apiOf(runtime, slot), mapping));
  const { intake } = runtime;
  if (intake.slots[slot].format !== "stripe")
    throw new Error(
      `${from} has subscriptions of Stripe, and ${slot} is bound to ${intake.slots[slot].format}`,
    );
  return withForeignDatabase(databaseUrl, (foreign) =>
    work(
      from === "sync-engine"
        ? syncEngineSubscriptions(intake, slot, { ...foreign, schema }, mapping)
        : betterAuthSubscriptions(intake, slot, foreign, mapping),
    ),
  );
}

async function readMapping(path: string): Promise<Mapping> {
  const example = '{ "customers": { "cus_1": "user_1" }, "emails": { "ann@example.com": "user_2" } }';
  const text = await readInputFile(path);
  try {
    return Mapping.parse(JSON.parse(text));
  } catch {
    throw new Error(`${path} is no mapping: expected ${example}`);
  }
}
