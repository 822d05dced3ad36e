import { type Command, Option } from "commander";
import type { PaymentApi } from "../domain/payment-api.ts";
import { SLOTS, type Slot } from "../domain/slot.ts";
import { withForeignDatabase } from "../import/foreign-database.ts";
import { importSubscriptions } from "../import/import-subscriptions.ts";
import { importUsers } from "../import/import-users.ts";
import { Mapping, NO_MAPPING } from "../import/mapping.ts";
import { readInputFile } from "../import/read-input-file.ts";
import type { ImportOptions, ImportReport, Source } from "../import/run-import.ts";
import { betterAuthSubscriptions, betterAuthUsers } from "../import/sources/better-auth.ts";
import { providerSubscriptions } from "../import/sources/provider.ts";
import { stripeCustomers } from "../import/sources/stripe-customers.ts";
import { syncEngineSubscriptions } from "../import/sources/sync-engine.ts";
import { userFile } from "../import/sources/user-file.ts";
import type { SubscriptionRow } from "../import/subscription-row.ts";
import { comparePayments } from "../reconcile/compare-payments.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { jsonOption } from "./arguments.ts";
import { conclude } from "./conclude.ts";
import { importText } from "./import-text.ts";
import { withCounter } from "./progress.ts";
import type { Terminal } from "./terminal.ts";
import { withRuntime } from "./with-runtime.ts";

export function addImport(program: Command, terminal: Terminal): void {
  const importing = program.command("import").description("data of another system: users, subscriptions");
  addImportUsers(importing, terminal);
  addImportSubscriptions(importing, terminal);
}

type Output = { json?: boolean; dryRun: boolean; notify: boolean };

function addCommon(command: Command): Command {
  return command
    .option("--database-url <url>", "PostgreSQL of the other system, for better-auth and sync-engine")
    .option("--dry-run", "report what would happen, and change nothing", false)
    .option("--notify", "notify users and emit events; off by default", false)
    .addOption(jsonOption());
}

type UserOptions = Output & { from: string; slot?: Slot; databaseUrl?: string };

function addImportUsers(importing: Command, terminal: Terminal): void {
  addCommon(importing.command("users"))
    .description("imports users without passwords, which they set by the password reset link")
    .requiredOption(
      "--from <source>",
      "a file ending in .csv or .json, better-auth, or stripe (its customers)",
    )
    .addOption(new Option("--slot <slot>", "the slot of the Stripe account, for stripe").choices(SLOTS))
    .addHelpText(
      "after",
      `
A file has the columns (or objects with the keys) id, externalId, email, name, locale; only email is required.
Rows that are invalid, or that name another account's id or address, are listed and left out. An interrupted import continues
where it stopped when it is run again with the same input.

Examples:
  npm run -s tollgate -- import users --from users.csv --dry-run
  npm run -s tollgate -- import users --from better-auth --database-url postgres://localhost/old
  npm run -s tollgate -- import users --from stripe --slot provider-a --json`,
    )
    .action(async (options: UserOptions) => {
      const report = await withRuntime(
        terminal,
        (runtime) =>
          withUserSource(runtime, options, (source) =>
            withCounter(terminal, (progressed) =>
              importUsers(runtime.intake, source, { ...modeOf(options), progressed }),
            ),
          ),
        { createsDatabase: true },
      );
      concludeImport(terminal, report, options);
    });
}

async function withUserSource(
  runtime: Runtime,
  options: UserOptions,
  work: (source: Source<unknown>) => Promise<ImportReport>,
): Promise<ImportReport> {
  const { from } = options;
  if (/\.(csv|json)$/i.test(from)) return work(await userFile(from));
  if (from === "better-auth")
    return withForeignDatabase(options.databaseUrl, (foreign) => work(betterAuthUsers(foreign)));
  if (from !== "stripe")
    throw new Error("--from: expected a file ending in .csv or .json, better-auth or stripe");
  const slot = options.slot ?? SLOTS.find((candidate) => runtime.payments[candidate]?.listCustomerPage);
  if (slot === undefined) throw new Error("no slot has an API key of Stripe");
  const { listCustomerPage } = apiOf(runtime, slot);
  if (listCustomerPage === null) throw new Error(`${slot} is not Stripe: only its customers can be imported`);
  return work(stripeCustomers(slot, listCustomerPage));
}

const SUBSCRIPTION_SOURCES = ["provider", "sync-engine", "better-auth"] as const;

type SubscriptionOptions = Output & {
  from: (typeof SUBSCRIPTION_SOURCES)[number];
  slot: Slot;
  databaseUrl?: string;
  schema: string;
  map?: string;
};

function addImportSubscriptions(importing: Command, terminal: Terminal): void {
  addCommon(importing.command("subscriptions"))
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
be asked, the subscriptions' payments are recorded too.

Examples:
  npm run -s tollgate -- import subscriptions --slot provider-a --from provider --dry-run
  npm run -s tollgate -- import subscriptions --slot provider-a --from provider --map mapping.json
  npm run -s tollgate -- import subscriptions --slot provider-a --from sync-engine --database-url postgres://localhost/old`,
    )
    .action(async (options: SubscriptionOptions) => {
      const mapping = options.map === undefined ? NO_MAPPING : await readMapping(options.map);
      const { slot } = options;
      const [report, payments] = await withRuntime(terminal, async (runtime) => {
        const imported = await withSubscriptionSource(runtime, options, mapping, (source) =>
          withCounter(terminal, (progressed) =>
            importSubscriptions(runtime.intake, { slot, mapping, api: runtime.payments[slot] }, source, {
              ...modeOf(options),
              progressed,
            }),
          ),
        );
        return [imported, await importPayments(runtime, options)] as const;
      });
      concludeImport(terminal, report, options, payments);
    });
}

/** Records what has been paid for the subscriptions. Returns how many payments; `null`: nobody was asked. */
async function importPayments(
  { intake, payments }: Runtime,
  { slot, dryRun, notify }: SubscriptionOptions,
): Promise<number | null> {
  const api = payments[slot];
  if (dryRun || api === null) return null;
  // Stripe lists refunds and disputes once for all payments, else for each one.
  return comparePayments(intake, slot, api, {
    ...{ since: null, dryRun: false, by: "server", notify },
    isStopping: () => false,
  });
}

async function withSubscriptionSource(
  runtime: Runtime,
  { from, slot, databaseUrl, schema }: SubscriptionOptions,
  mapping: Mapping,
  work: (source: Source<SubscriptionRow>) => Promise<ImportReport>,
): Promise<ImportReport> {
  if (from === "provider") return work(providerSubscriptions(slot, apiOf(runtime, slot), mapping));
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

function apiOf({ payments }: Runtime, slot: Slot): PaymentApi {
  const api = payments[slot];
  if (api === null) throw new Error(`no payment provider is configured for ${slot}`);
  return api;
}

function modeOf({ dryRun, notify }: Output): Pick<ImportOptions, "dryRun" | "notify"> {
  return { dryRun, notify };
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

/** @param payments how many were recorded; `null`: none were asked for */
function concludeImport(
  terminal: Terminal,
  report: ImportReport,
  options: Output,
  payments: number | null = null,
): void {
  const { created, updated, skipped, unmatched } = report;
  const json = { created, updated, skipped, unmatched, ...(payments === null ? {} : { payments }) };
  conclude(terminal, { json, text: () => importText(report, { ...options, payments }) }, options);
}
