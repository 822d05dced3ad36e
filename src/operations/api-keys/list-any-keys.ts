import { z } from "zod";
import { UserId } from "../../domain/user-id.ts";
import { isUuid } from "../../domain/uuid.ts";
import { listKeysWithOwners } from "../../store/api-key-directory.ts";
import type { Queryable } from "../../store/database.ts";
import { defineOperation } from "../operation.ts";
import { cutPage, PAGE, pageOf, positionOf } from "../page.ts";
import { ApiKeyView } from "./api-key-view.ts";

export const listAnyKeys = defineOperation({
  name: "apiKeys.listAny",
  summary: "The active API keys of all users, or of one, newest first",
  access: "operator",
  limit: null,
  input: z.strictObject({ ...PAGE, userId: UserId.nullable().default(null) }),
  reasons: [],
  output: pageOf(ApiKeyView.extend({ userId: z.string(), email: z.string() })),
  run: async (deps: { database: Queryable }, _caller, { userId, limit, cursor }) => {
    const before = positionOf(cursor, isUuid);
    const rows = await listKeysWithOwners(deps.database, userId, { before, limit: limit + 1 });
    return cutPage(rows, limit, { item: ({ createdAtMicros: _, ...key }) => key, position: (row) => row });
  },
});
