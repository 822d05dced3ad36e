import { z } from "zod";
import type { Database } from "../../store/database.ts";
import { defineOperation } from "../operation.ts";
import { ApiKeyId } from "./api-key-view.ts";
import { revokeKey } from "./revoke-api-key.ts";

export const revokeAnyKey = defineOperation({
  name: "apiKeys.revokeAny",
  summary: "Revokes any user's API key",
  access: "operator",
  limit: null,
  input: z.strictObject({ id: ApiKeyId }),
  reasons: ["not_found"],
  output: z.object({ success: z.literal(true) }),
  run: (deps: { database: Database }, caller, { id }) => revokeKey(deps, caller, { id, ownerId: null }),
});
