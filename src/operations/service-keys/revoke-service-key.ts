import { z } from "zod";
import { notFound } from "../../domain/refusals/refusal.ts";
import { withAudit } from "../../store/audit/with-audit.ts";
import type { Database } from "../../store/database.ts";
import { revokeServiceKey as revoke } from "../../store/keys/service-keys.ts";
import { defineOperation } from "../operation.ts";
import { ServiceKeyId } from "./service-key-view.ts";

export const revokeServiceKey = defineOperation({
  name: "serviceKeys.revoke",
  summary: "Revokes a service key with all its secrets",
  access: "admin",
  limit: "admin",
  input: z.strictObject({ id: ServiceKeyId }),
  reasons: ["not_found"],
  output: z.object({ success: z.literal(true).describe("Always true.") }),
  run: async (deps: { database: Database }, caller, { id }) => {
    const isRevoked = await withAudit(
      deps.database,
      caller,
      (transaction) => revoke(transaction, id),
      (revoked) => (revoked ? { action: "service_key.revoked", target: { type: "service_key", id } } : null),
    );
    if (!isRevoked) notFound("service_key");
    return { success: true as const };
  },
});
