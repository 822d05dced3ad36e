import { z } from "zod";
import { isUuid } from "../../domain/uuid.ts";
import type { Queryable } from "../../store/database.ts";
import { listServiceKeys as listed } from "../../store/service-keys.ts";
import { defineOperation } from "../operation.ts";
import { cutPage, PAGE, pageOf, positionOf } from "../page.ts";
import { ServiceKeyView, serviceKeyView } from "./service-key-view.ts";

export const listServiceKeys = defineOperation({
  name: "serviceKeys.list",
  summary: "Lists service keys that are not revoked, newest first",
  access: "admin",
  limit: "admin",
  input: z.strictObject(PAGE),
  reasons: [],
  output: pageOf(ServiceKeyView),
  run: async (deps: { database: Queryable }, _caller, { limit, cursor }) => {
    const before = positionOf(cursor, isUuid);
    const rows = await listed(deps.database, { before, limit: limit + 1 });
    return cutPage(rows, limit, {
      item: ({ createdAtMicros: _, ...key }) => serviceKeyView(key),
      position: (row) => row,
    });
  },
});
