import { type Command, Option } from "commander";
import { Refusal } from "../../domain/refusals/refusal.ts";
import { ApiKeyId } from "../../operations/api-keys/api-key-view.ts";
import { listAnyKeys } from "../../operations/api-keys/list-any-keys.ts";
import { revokeAnyKey } from "../../operations/api-keys/revoke-any-key.ts";
import { revokeServiceKey } from "../../operations/service-keys/revoke-service-key.ts";
import { rotateServiceKey } from "../../operations/service-keys/rotate-service-key.ts";
import { findByEmail } from "../../operations/users/find-by-email.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { addPageOptions, jsonOption, parsedBy } from "../arguments.ts";
import { collectPages, type PageOptions } from "../collect-pages.ts";
import { conclude } from "../conclude.ts";
import { keyTable } from "../output/key-table.ts";
import { runAsOperator } from "../run-as-operator.ts";
import type { Terminal } from "../terminal.ts";
import { withRuntime } from "../with-runtime.ts";
import { addCreate } from "./create-service-key.ts";

export function addKeys(program: Command, terminal: Terminal): void {
  const keys = program.command("keys").description("API keys and service keys: create, list, rotate, revoke");
  addCreate(keys, terminal);
  addList(keys, terminal);
  addRotate(keys, terminal);
  addRevoke(keys, terminal);
}

function addList(keys: Command, terminal: Terminal): void {
  addPageOptions(keys.command("list"), 100)
    .description("lists service keys and API keys that are not revoked, newest first")
    .addOption(new Option("--user <email>", "only the keys of this user"))
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Examples:
  npm run -s tollgate -- keys list
  npm run -s tollgate -- keys list --user somebody@example.com --json | jq -r '.[].id'`,
    )
    .action(async (options: PageOptions & { user?: string; json?: boolean }) => {
      const { items, nextCursor } = await withRuntime(terminal, async (runtime) => {
        const userId = options.user === undefined ? null : await userIdOf(runtime, options.user);
        return collectPages(options, (page) => runAsOperator(listAnyKeys, runtime, { userId, ...page }));
      });
      conclude(terminal, { json: items, text: () => keyTable(items, new Date()), nextCursor }, options);
    });
}

function addRevoke(keys: Command, terminal: Terminal): void {
  keys
    .command("revoke")
    .description("revokes any key immediately")
    .argument("<id>", "its id, as in the list (not the key itself)", parsedBy(ApiKeyId))
    .addOption(jsonOption())
    .addHelpText(
      "after",
      "\nExample:\n  npm run -s tollgate -- keys revoke 0d4c2f6e-6c3b-4a53-9d0a-3f1f6a0e7b11",
    )
    .action(async (id: string, options: { json?: boolean }) => {
      await withRuntime(terminal, (runtime) => revoke(runtime, id));
      conclude(terminal, { json: { id, revoked: true }, text: () => `${id} is revoked` }, options);
    });
}

function addRotate(keys: Command, terminal: Terminal): void {
  keys
    .command("rotate")
    .description("creates a new secret for a service key; the previous one stays valid for 24 hours")
    .argument("<id>", "its id, as in the list (not the key itself)", parsedBy(ApiKeyId))
    .addOption(jsonOption())
    .addHelpText(
      "after",
      "\nExample:\n  npm run -s tollgate -- keys rotate 0d4c2f6e-6c3b-4a53-9d0a-3f1f6a0e7b11",
    )
    .action(async (id: string, options: { json?: boolean }) => {
      const rotated = await withRuntime(terminal, (runtime) =>
        runAsOperator(rotateServiceKey, runtime, { id }),
      );
      const until = rotated.previousValidUntil.toISOString();
      conclude(
        terminal,
        {
          json: rotated,
          text: () => `${rotated.key}\nshown only once; the previous secret is valid until ${until}`,
        },
        options,
      );
    });
}

/** Of whichever kind the key is. */
async function revoke(runtime: Runtime, id: string): Promise<void> {
  try {
    await runAsOperator(revokeServiceKey, runtime, { id });
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== "not_found") throw error;
    await runAsOperator(revokeAnyKey, runtime, { id });
  }
}

async function userIdOf(runtime: Runtime, email: string): Promise<string> {
  return (await runAsOperator(findByEmail, runtime, { email })).id;
}
