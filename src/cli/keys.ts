import type { Command } from "commander";
import { revokeAnyKey } from "../operations/api-keys/revoke-any-key.ts";
import { ApiKeyId } from "../operations/api-keys/revoke-api-key.ts";
import { accepted, jsonOption } from "./arguments.ts";
import { conclude } from "./conclude.ts";
import { withRuntime } from "./with-runtime.ts";

export function addKeys(program: Command): void {
  const keys = program.command("keys").description("the API keys of the users");
  keys
    .command("revoke")
    .description("revokes a key at once, whoever it belongs to")
    .argument("<id>", "its id, as the list of keys shows it (not the key itself)", accepted(ApiKeyId))
    .addOption(jsonOption())
    .addHelpText(
      "after",
      "\nExample:\n  npm run -s tollgate -- keys revoke 0d4c2f6e-6c3b-4a53-9d0a-3f1f6a0e7b11",
    )
    .action(async (id: string, options: { json?: boolean }) => {
      await withRuntime((runtime) => revokeAnyKey(runtime, id));
      conclude({ json: { id, revoked: true }, text: () => `${id} is revoked` }, options);
    });
}
