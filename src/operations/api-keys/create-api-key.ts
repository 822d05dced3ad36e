import { z } from "zod";
import { EXPIRY_REASONS, expiryOf, KeyExpiry } from "../../domain/callers/key-expiry.ts";
import { refuse } from "../../domain/refusals/refusal.ts";
import { PersonName } from "../../domain/users/person-name.ts";
import { withAudit } from "../../store/audit/with-audit.ts";
import type { Database } from "../../store/database.ts";
import { insertApiKey } from "../../store/keys/api-keys.ts";
import { lockUserOfSession } from "../../store/sign-in/sessions.ts";
import { defineOperation } from "../operation.ts";
import { ApiKeyView } from "./api-key-view.ts";

export type NewApiKey = { key: string; prefix: string; hash: Buffer };

export const createApiKey = defineOperation({
  name: "apiKeys.create",
  summary: "Creates an API key; the response is the only place that shows it",
  access: "session",
  limit: "settings",
  input: z.strictObject({
    name: PersonName.describe("A name to recognize it by."),
    expiresAt: KeyExpiry,
  }),
  reasons: [...EXPIRY_REASONS, "too_many_api_keys"],
  output: z.object({
    ...ApiKeyView.pick({ id: true, name: true, prefix: true }).shape,
    key: z.string().describe("The key itself. Not stored: it cannot be shown again."),
    createdAt: ApiKeyView.shape.createdAt,
  }),
  run: async (deps: { database: Database; newApiKey: () => NewApiKey }, caller, { name, ...requested }) => {
    const expiresAt = expiryOf(requested.expiresAt, new Date());
    const { key, prefix, hash } = deps.newApiKey();
    const created = await withAudit(
      deps.database,
      caller,
      async (transaction) => {
        if (!(await lockUserOfSession(transaction, caller))) refuse({ reason: "unauthorized" });
        const { userId } = caller;
        return insertApiKey(transaction, { userId, name, prefix, hash, expiresAt });
      },
      (apiKey) =>
        apiKey && {
          action: "api_key.created",
          target: { type: "api_key", id: apiKey.id },
          details: { prefix, expiresAt },
        },
    );
    if (created === null) refuse({ reason: "too_many_api_keys" });
    return { id: created.id, name, prefix, key, createdAt: created.createdAt };
  },
});
