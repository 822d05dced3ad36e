import type { Command } from "commander";
import type { Terminal } from "../terminal.ts";
import { addImportSubscriptions } from "./import-subscriptions.ts";
import { addImportUsers } from "./import-users.ts";

export function addImport(program: Command, terminal: Terminal): void {
  const importing = program.command("import").description("data of another system: users, subscriptions");
  addImportUsers(importing, terminal);
  addImportSubscriptions(importing, terminal);
}
