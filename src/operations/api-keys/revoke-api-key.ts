import { z } from "zod";
import type { Operator, Person } from "../../domain/callers/caller.ts";
import { notFound } from "../../domain/refusals/refusal.ts";
import { withAudit } from "../../store/audit/with-audit.ts";
import type { Database } from "../../store/database.ts";
import { revokeApiKey as revoke } from "../../store/keys/api-keys.ts";
import { defineOperation } from "../operation.ts";
import { ApiKeyId } from "./api-key-view.ts";

export const revokeApiKey = defineOperation({
  name: "apiKeys.revoke",
  summary: "Revokes an API key",
  access: "session",
  limit: "settings",
  input: z.strictObject({ id: ApiKeyId }),
  reasons: ["not_found"],
  output: z.object({ success: z.literal(true).describe("Always true.") }),
  run: (deps: { database: Database }, caller, { id }) =>
    revokeKey(deps, caller, { id, ownerId: caller.userId }),
});

/** With `ownerId: null`, anybody's key. @throws Refusal `not_found` */
export async function revokeKey(
  { database }: { database: Database },
  caller: Person | Operator,
  { id, ownerId }: { id: string; ownerId: string | null },
): Promise<{ success: true }> {
  const entry = { action: "api_key.revoked", target: { type: "api_key", id } } as const;
  const isRevoked = await withAudit(
    database,
    caller,
    (transaction) => revoke(transaction, ownerId, id),
    (isRevoked) => (isRevoked ? entry : null),
  );
  if (!isRevoked) notFound("api_key");
  return { success: true };
}
