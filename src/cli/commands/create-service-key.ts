import { type Command, InvalidArgumentError, Option } from "commander";
import { PERMISSIONS, type Permission } from "../../domain/callers/permission.ts";
import { createServiceKey } from "../../operations/service-keys/create-service-key.ts";
import { jsonOption } from "../arguments.ts";
import { conclude } from "../conclude.ts";
import { runAsOperator } from "../run-as-operator.ts";
import type { Terminal } from "../terminal.ts";
import { withRuntime } from "../with-runtime.ts";

type Options = {
  name: string;
  permissions: Permission[];
  limit?: string;
  expires?: string;
  json?: boolean;
};

export function addCreate(keys: Command, terminal: Terminal): void {
  keys
    .command("create")
    .description("creates a service key, for another program, and shows it once")
    .addOption(new Option("--service", "a service key: users create their own keys").makeOptionMandatory())
    .addOption(new Option("--name <name>", "the program that uses it").makeOptionMandatory())
    .addOption(
      new Option("--permissions <list>", `comma-separated: ${PERMISSIONS.join(",")}`)
        .argParser(permissionsIn)
        .makeOptionMandatory(),
    )
    .addOption(new Option("--limit <limit/seconds>", "the rate limit, as requests/seconds (default: 600/60)"))
    .addOption(new Option("--expires <time>", 'e.g. 2030-01-31T00:00:00Z, or "never" (default: in a year)'))
    .addOption(jsonOption())
    .addHelpText(
      "after",
      "\nExample:\n  npm run -s tollgate -- keys create --service --name shop --permissions entitlements:read,usage:write",
    )
    .action(async (options: Options) => {
      const { name, permissions, limit, expires } = options;
      const input = {
        name,
        permissions,
        ...(limit === undefined ? {} : { limit }),
        ...(expires === undefined ? {} : { expiresAt: expires === "never" ? null : expires }),
      };
      const created = await withRuntime(terminal, (runtime) =>
        runAsOperator(createServiceKey, runtime, input),
      );
      conclude(
        terminal,
        { json: created, text: () => `${created.key}\nid ${created.id}, shown only once` },
        options,
      );
    });
}

function permissionsIn(text: string): Permission[] {
  return text.split(",").map((name) => {
    const match = PERMISSIONS.find((permission) => permission === name.trim());
    if (match === undefined) {
      throw new InvalidArgumentError(`Expected some of ${PERMISSIONS.join(",")}, not "${name.trim()}".`);
    }
    return match;
  });
}
