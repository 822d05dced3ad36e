import { z } from "zod";
import { PersonName } from "../../domain/person-name.ts";
import { refuse } from "../../domain/refusal.ts";
import { insertApiKey } from "../../store/api-keys.ts";
import type { Queryable } from "../../store/database.ts";
import { defineOperation } from "../operation.ts";

export type NewApiKey = { key: string; prefix: string; hash: Buffer };

export const createApiKey = defineOperation({
  name: "apiKeys.create",
  summary: "Makes an API key and shows it this once",
  access: "session",
  limit: "settings",
  input: z.strictObject({
    name: PersonName.describe("By which its owner knows it."),
    expiresAt: z.iso
      .datetime({ offset: true, error: "expected a time such as 2030-01-31T00:00:00Z" })
      .nullable()
      .default(null)
      .describe("Never unless given."),
  }),
  output: z.object({
    id: z.uuid(),
    name: z.string(),
    prefix: z.string(),
    key: z.string().describe("Kept nowhere: it cannot be shown again."),
    createdAt: z.date(),
  }),
  run: async (deps: { database: Queryable; newApiKey: () => NewApiKey }, caller, { name, expiresAt }) => {
    if (expiresAt !== null && Date.parse(expiresAt) <= Date.now()) {
      refuse("invalid_input", "expiresAt: expected a time that is still to come");
    }
    const { key, prefix, hash } = deps.newApiKey();
    const made = await insertApiKey(deps.database, {
      userId: caller.userId,
      name,
      prefix,
      hash,
      expiresAt: expiresAt === null ? null : new Date(expiresAt),
    });
    if (made === null) refuse("conflict", "there are too many API keys: revoke one first");
    return { id: made.id, name, prefix, key, createdAt: made.createdAt };
  },
});
