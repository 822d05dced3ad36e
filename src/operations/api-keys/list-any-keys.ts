import { z } from "zod";
import { UserId } from "../../domain/users/user-id.ts";
import type { Queryable } from "../../store/database.ts";
import { listKeysWithOwners, type OwnedKey } from "../../store/keys/api-key-directory.ts";
import { defineOperation } from "../operation.ts";
import { PAGE, pageOf, readPage } from "../page.ts";
import { ApiKeyView } from "./api-key-view.ts";

const OwnedApiKeyView = ApiKeyView.extend({
  userId: z.string().nullable().describe("`null` for a service key."),
  email: z.string().nullable(),
  permissions: z.array(z.string()).optional().describe("Service keys only."),
  limit: z.string().optional().describe("Service keys only."),
});

export const listAnyKeys = defineOperation({
  name: "apiKeys.listAny",
  summary: "Lists all service keys and API keys that are not revoked, or one user's API keys, newest first",
  access: "operator",
  limit: null,
  input: z.strictObject({ ...PAGE, userId: UserId.nullable().default(null) }),
  reasons: [],
  output: pageOf(OwnedApiKeyView),
  run: async (deps: { database: Queryable }, _caller, { userId, ...page }) => {
    const { items, nextCursor } = await readPage(page, (before, limit) =>
      listKeysWithOwners(deps.database, userId, { before, limit }),
    );
    return { items: items.map(toView), nextCursor };
  },
});

function toView({ permissions, limit, ...common }: OwnedKey): z.input<typeof OwnedApiKeyView> {
  return permissions === null ? common : { ...common, permissions, limit };
}
