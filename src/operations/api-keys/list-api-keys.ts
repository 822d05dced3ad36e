import { z } from "zod";
import { isUuid } from "../../domain/uuid.ts";
import type { Queryable } from "../../store/database.ts";
import { listApiKeys as listed } from "../../store/keys/api-keys.ts";
import { defineOperation } from "../operation.ts";
import { cutPage, PAGE, pageOf, positionOf } from "../page.ts";
import { ApiKeyView } from "./api-key-view.ts";

export const listApiKeys = defineOperation({
  name: "apiKeys.list",
  summary: "Lists the caller's API keys that are not revoked, newest first",
  access: "person",
  limit: "settings",
  input: z.strictObject(PAGE),
  reasons: [],
  output: pageOf(ApiKeyView),
  run: async (deps: { database: Queryable }, caller, { limit, cursor }) => {
    const rows = await listed(deps.database, caller.userId, {
      before: positionOf(cursor, isUuid),
      limit: limit + 1,
    });
    return cutPage(rows, limit);
  },
});
