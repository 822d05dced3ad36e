import { z } from "zod";
import type { Queryable } from "../../store/database.ts";
import { listApiKeys as listed } from "../../store/keys/api-keys.ts";
import { defineOperation } from "../operation.ts";
import { PAGE, pageOf, readPage } from "../page.ts";
import { ApiKeyView } from "./api-key-view.ts";

export const listApiKeys = defineOperation({
  name: "apiKeys.list",
  summary: "Lists the caller's API keys that are not revoked, newest first",
  access: "person",
  limit: "settings",
  input: z.strictObject(PAGE),
  reasons: [],
  output: pageOf(ApiKeyView),
  run: (deps: { database: Queryable }, { userId }, page) =>
    readPage(page, (before, limit) => listed(deps.database, userId, { before, limit })),
});
