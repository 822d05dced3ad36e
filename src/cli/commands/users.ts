import { type Command, Option } from "commander";
import type { Role } from "../../domain/callers/caller.ts";
import { changeRole } from "../../operations/users/change-role.ts";
import { createUsers } from "../../operations/users/create-users.ts";
import { findByEmail } from "../../operations/users/find-by-email.ts";
import { addPageOptions, jsonOption, parsedBy, wholeNumber } from "../arguments.ts";
import type { PageOptions } from "../collect-pages.ts";
import { conclude } from "../conclude.ts";
import { runAsOperator } from "../run-as-operator.ts";
import type { Terminal } from "../terminal.ts";
import { withRuntime } from "../with-runtime.ts";
import { addDelete } from "./delete-user.ts";
import { addDisableTwoFactor } from "./disable-two-factor.ts";
import { oldestUsers, userTable } from "./user-list.ts";

export function addUsers(program: Command, terminal: Terminal): void {
  const users = program
    .command("users")
    .description("users: list, promote, demote, disable-two-factor, delete, create");
  addList(users, terminal);
  addRoleChange(users, terminal, {
    verb: "promote",
    role: "admin",
    description: "makes a user an administrator, including the first one",
  });
  addRoleChange(users, terminal, {
    verb: "demote",
    role: "user",
    description: "makes an administrator an ordinary user again",
  });
  addDisableTwoFactor(users, terminal);
  addDelete(users, terminal);
  addCreate(users, terminal);
}

function addList(users: Command, terminal: Terminal): void {
  addPageOptions(users.command("list"), 100)
    .description("lists all users, oldest first")
    .addOption(jsonOption())
    .addHelpText("after", "\nExample:\n  npm run -s tollgate -- users list --json | jq -r '.[].email'")
    .action(async (options: PageOptions & { json?: boolean }) => {
      const { items, nextCursor } = await withRuntime(terminal, (runtime) => oldestUsers(runtime, options));
      conclude(terminal, { json: items, text: () => userTable(items), nextCursor }, options);
    });
}

function addRoleChange(
  users: Command,
  terminal: Terminal,
  { verb, role, description }: { verb: string; role: Role; description: string },
): void {
  users
    .command(verb)
    .description(description)
    .argument("<email>", "the address that the user signs in with")
    .addOption(jsonOption())
    .addHelpText("after", `\nExample:\n  npm run -s tollgate -- users ${verb} somebody@example.com`)
    .action(async (email: string, options: { json?: boolean }) => {
      const changed = await withRuntime(terminal, async (runtime) => {
        const user = await runAsOperator(findByEmail, runtime, { email });
        return runAsOperator(changeRole, runtime, { userId: user.id, role });
      });
      const text = `${changed.email} is now ${role === "admin" ? "an administrator" : "an ordinary user"}`;
      conclude(terminal, { json: changed, text: () => text }, options);
    });
}

function addCreate(users: Command, terminal: Terminal): void {
  users
    .command("create")
    .description(
      "creates users without a password, for trials and load tests; existing ones are left unchanged",
    )
    .addOption(
      new Option("--count <n>", "how many, up to 1000000")
        .argParser(wholeNumber(1, 1_000_000))
        .makeOptionMandatory(),
    )
    .addOption(
      new Option("--id-prefix <prefix>", "the part of their ids before the number")
        .default("user_")
        .argParser(parsedBy(createUsers.input.shape.idPrefix.unwrap())),
    )
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Examples:
  npm run -s tollgate -- users create --count 100                     (user_0 to user_99)
  npm run -s tollgate -- users create --count 20 --id-prefix trial_`,
    )
    .action(async (options: { count: number; idPrefix: string; json?: boolean }) => {
      const { count, idPrefix } = options;
      const created = await withRuntime(
        terminal,
        (runtime) => runAsOperator(createUsers, runtime, { count, idPrefix }),
        { createsDatabase: true },
      );
      const text = `${created.firstId} to ${created.lastId}: ${created.created} created, ${created.existing} already existed`;
      conclude(terminal, { json: created, text: () => text }, options);
    });
}
