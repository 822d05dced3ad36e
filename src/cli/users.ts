import { type Command, Option } from "commander";
import { CreateUsers, createUsers } from "../operations/users/create-users.ts";
import { accepted, jsonOption, wholeNumber } from "./arguments.ts";
import { conclude } from "./conclude.ts";
import { withRuntime } from "./with-runtime.ts";

export function addUsers(program: Command): void {
  const users = program.command("users").description("the people who subscribe");
  addCreate(users);
}

function addCreate(users: Command): void {
  users
    .command("create")
    .description(
      "makes users without a password, for trials and for load; those who exist are left as they are",
    )
    .addOption(
      new Option("--count <n>", "how many, up to 1000000")
        .argParser(wholeNumber(1, 1_000_000))
        .makeOptionMandatory(),
    )
    .addOption(
      new Option("--id-prefix <prefix>", "what comes before the number in their ids")
        .default("user_")
        .argParser(accepted(CreateUsers.shape.idPrefix.unwrap())),
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
      const created = await withRuntime((runtime) => createUsers(runtime, { count, idPrefix }));
      const text = `${created.firstId} to ${created.lastId}: ${created.created} created, ${created.existing} were there already`;
      conclude({ json: created, text: () => text }, options);
    });
}
