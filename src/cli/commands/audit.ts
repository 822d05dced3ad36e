import { type Command, Option } from "commander";
import { listAuditEntries } from "../../operations/audit/list-audit-entries.ts";
import { addPageOptions, jsonOption, parsedBy } from "../arguments.ts";
import { collectPages, type PageOptions } from "../collect-pages.ts";
import { conclude } from "../conclude.ts";
import { auditTable } from "../output/audit-table.ts";
import { runAsOperator } from "../run-as-operator.ts";
import type { Terminal } from "../terminal.ts";
import { withRuntime } from "../with-runtime.ts";

const { action, actor, target, from, to } = listAuditEntries.input.shape;

type Options = PageOptions & {
  action?: string;
  actor?: string;
  target?: string;
  from?: string;
  to?: string;
  json?: boolean;
};

export function addAudit(program: Command, terminal: Terminal): void {
  const audit = program
    .command("audit")
    .description("audit log of changes by administrators, operators and keys: list");
  addPageOptions(audit.command("list"), 100)
    .description("lists the entries of the audit log, newest first")
    .addOption(
      new Option("--action <action>", "an action, or its first word").argParser(
        parsedBy(action.unwrap().unwrap()),
      ),
    )
    .addOption(
      new Option("--actor <id>", "only what this user or key did").argParser(
        parsedBy(actor.unwrap().unwrap()),
      ),
    )
    .addOption(
      new Option("--target <id>", "only what was done to this").argParser(parsedBy(target.unwrap().unwrap())),
    )
    .addOption(
      new Option("--from <time>", "not before this time").argParser(parsedBy(from.unwrap().unwrap())),
    )
    .addOption(new Option("--to <time>", "before this time").argParser(parsedBy(to.unwrap().unwrap())))
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Examples:
  npm run -s tollgate -- audit list
  npm run -s tollgate -- audit list --action user.role_changed --from 2030-01-01T00:00:00Z
  npm run -s tollgate -- audit list --action api_key --json | jq -r '.[].target.id'`,
    )
    .action(async (options: Options) => {
      const { limit, cursor, json, ...filter } = options;
      const { items, nextCursor } = await withRuntime(terminal, (runtime) =>
        collectPages(options, (page) => runAsOperator(listAuditEntries, runtime, { ...filter, ...page })),
      );
      conclude(terminal, { json: items, text: () => auditTable(items), nextCursor }, { json: json ?? false });
    });
}
