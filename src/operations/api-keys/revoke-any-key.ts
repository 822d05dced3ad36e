import { OPERATOR } from "../../domain/caller.ts";
import { refuse } from "../../domain/refusal.ts";
import { revokeApiKey } from "../../store/api-keys.ts";
import type { Queryable } from "../../store/database.ts";
import { recordAudit } from "../../store/record-audit.ts";

/** For the operator: whoever the key belongs to. @throws Refusal `not_found` */
export async function revokeAnyKey(deps: { database: Queryable }, id: string): Promise<void> {
  if (!(await revokeApiKey(deps.database, null, id))) {
    refuse({ reason: "not_found", params: { resource: "api_key" } });
  }
  await recordAudit(deps, OPERATOR, { action: "api_key.revoked", target: { type: "api_key", id } });
}
