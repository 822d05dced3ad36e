import { z } from "zod";
import { notFound } from "../../domain/refusals/refusal.ts";
import { withAudit } from "../../store/audit/with-audit.ts";
import type { Database } from "../../store/database.ts";
import { revokeApiKey } from "../../store/keys/api-keys.ts";
import { defineOperation } from "../operation.ts";
import { ApiKeyId } from "./api-key-view.ts";

export const revokeAnyKey = defineOperation({
  name: "apiKeys.revokeAny",
  summary: "Revokes any user's API key",
  access: "operator",
  limit: null,
  input: z.strictObject({ id: ApiKeyId }),
  reasons: ["not_found"],
  output: z.object({ success: z.literal(true) }),
  run: async (deps: { database: Database }, caller, { id }) => {
    const entry = { action: "api_key.revoked", target: { type: "api_key", id } } as const;
    const isRevoked = await withAudit(
      deps.database,
      caller,
      (transaction) => revokeApiKey(transaction, null, id),
      (isRevoked) => (isRevoked ? entry : null),
    );
    if (!isRevoked) notFound("api_key");
    return { success: true as const };
  },
});
