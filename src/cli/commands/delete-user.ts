import type { Command } from "commander";
import { deleteUser } from "../../operations/users/delete-user.ts";
import { findByEmail } from "../../operations/users/find-by-email.ts";
import { deletionTools } from "../../runtime/deletion-tools.ts";
import { jsonOption } from "../arguments.ts";
import { conclude } from "../conclude.ts";
import { printable } from "../output/table.ts";
import { runAsOperator } from "../run-as-operator.ts";
import type { Terminal } from "../terminal.ts";
import { withRuntime } from "../with-runtime.ts";

export function addDelete(users: Command, terminal: Terminal): void {
  users
    .command("delete")
    .description("cancels a user's subscriptions, then deletes the account and all personal data")
    .argument("<email>", "the address that the user signs in with")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
It cannot be undone. If a subscription cannot be canceled at its provider, nothing is deleted.

Example:
  npm run -s tollgate -- users delete somebody@example.com`,
    )
    .action(async (email: string, options: { json?: boolean }) => {
      const user = await withRuntime(terminal, async (runtime) => {
        const found = await runAsOperator(findByEmail, runtime, { email });
        const input = { userId: found.id, confirmation: email };
        await runAsOperator(deleteUser, deletionTools(runtime, problemsTo(terminal)), input);
        return found;
      });
      conclude(
        terminal,
        { json: { id: user.id, deleted: true }, text: () => `${user.email} is deleted` },
        options,
      );
    });
}

/** A command has no log, and a subscription that its provider does not know is for the operator to look up. */
function problemsTo({ stderr }: Terminal): { error(facts: object, message: string): void } {
  return {
    error: (facts, message) => {
      const named = Object.entries(facts).map(([name, fact]) => `${name} ${fact}`);
      stderr.write(`${printable([message, ...named].join(", "), 2_000)}\n`);
    },
  };
}
