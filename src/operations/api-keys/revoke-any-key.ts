import { z } from "zod";
import { refuse } from "../../domain/refusal.ts";
import { revokeApiKey } from "../../store/api-keys.ts";
import type { Queryable } from "../../store/database.ts";
import { recordAudit } from "../../store/record-audit.ts";
import { defineOperation } from "../operation.ts";
import { ApiKeyId } from "./api-key-view.ts";

export const revokeAnyKey = defineOperation({
  name: "apiKeys.revokeAny",
  summary: "Revokes an API key at once, whoever owns it",
  access: "operator",
  limit: null,
  input: z.strictObject({ id: ApiKeyId }),
  reasons: ["not_found"],
  output: z.object({ success: z.literal(true) }),
  run: async (deps: { database: Queryable }, caller, { id }) => {
    if (!(await revokeApiKey(deps.database, null, id))) {
      refuse({ reason: "not_found", params: { resource: "api_key" } });
    }
    await recordAudit(deps, caller, { action: "api_key.revoked", target: { type: "api_key", id } });
    return { success: true as const };
  },
});
