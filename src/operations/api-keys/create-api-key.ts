import { z } from "zod";
import { PersonName } from "../../domain/person-name.ts";
import { refuse } from "../../domain/refusal.ts";
import { insertApiKey } from "../../store/api-keys.ts";
import type { Database } from "../../store/database.ts";
import { withAudit } from "../../store/with-audit.ts";
import { defineOperation } from "../operation.ts";

export type NewApiKey = { key: string; prefix: string; hash: Buffer };

export const createApiKey = defineOperation({
  name: "apiKeys.create",
  summary: "Creates an API key; the response is the only place that shows it",
  access: "session",
  limit: "settings",
  input: z.strictObject({
    name: PersonName.describe("A name to recognize it by."),
    expiresAt: z.iso
      .datetime({ offset: true })
      .nullable()
      .optional()
      .describe("Defaults to a year from now; `null`: never."),
  }),
  reasons: ["expiry_in_past", "expiry_too_late", "too_many_api_keys"],
  output: z.object({
    id: z.uuid(),
    name: z.string(),
    prefix: z.string(),
    key: z.string().describe("Not stored: it cannot be shown again."),
    createdAt: z.date(),
  }),
  run: async (deps: { database: Database; newApiKey: () => NewApiKey }, caller, { name, expiresAt }) => {
    const now = new Date();
    const expiry = expiryOf(expiresAt, now);
    if (expiry !== null && expiry <= now) {
      refuse({ reason: "expiry_in_past", field: "expiresAt" });
    }
    if (expiry !== null && expiry > LAST_TIME) {
      refuse({ reason: "expiry_too_late", field: "expiresAt" });
    }
    const { key, prefix, hash } = deps.newApiKey();
    const made = await withAudit(
      deps.database,
      caller,
      (transaction) =>
        insertApiKey(transaction, { userId: caller.userId, name, prefix, hash, expiresAt: expiry }),
      (made) =>
        made && {
          action: "api_key.created",
          target: { type: "api_key", id: made.id },
          details: { prefix, expiresAt: expiry },
        },
    );
    if (made === null) refuse({ reason: "too_many_api_keys" });
    return { id: made.id, name, prefix, key, createdAt: made.createdAt };
  },
});

/** RFC 3339 has no year after 9999, in whatever offset a time is written. */
const LAST_TIME = new Date("9999-12-31T23:59:59.999Z");

function expiryOf(expiresAt: string | null | undefined, now: Date): Date | null {
  if (expiresAt === null) return null;
  if (expiresAt !== undefined) return new Date(expiresAt);
  const inAYear = new Date(now);
  inAYear.setUTCFullYear(now.getUTCFullYear() + 1);
  return inAYear;
}
