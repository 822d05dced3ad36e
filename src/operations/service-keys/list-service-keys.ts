import { z } from "zod";
import { limitText } from "../../limits/policies.ts";
import type { Queryable } from "../../store/database.ts";
import { type ListedServiceKey, listServiceKeys as listKeys } from "../../store/keys/service-key-list.ts";
import { defineOperation } from "../operation.ts";
import { PAGE, pageOf, readPage } from "../page.ts";
import { ServiceKeyView } from "./service-key-view.ts";

export const listServiceKeys = defineOperation({
  name: "serviceKeys.list",
  summary: "Lists the service keys that are not revoked, newest first",
  access: "admin",
  limit: "admin",
  input: z.strictObject(PAGE),
  reasons: [],
  output: pageOf(ServiceKeyView),
  run: async (deps: { database: Queryable }, _caller, page) => {
    const { items, nextCursor } = await readPage(page, (before, limit) =>
      listKeys(deps.database, { before, limit }),
    );
    return { items: items.map(toView), nextCursor };
  },
});

function toView({ windowSeconds, limit, ...key }: Omit<ListedServiceKey, "atMicros">) {
  return { ...key, limit: limitText({ limit, windowSeconds }) };
}
