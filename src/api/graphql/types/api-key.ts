import { ApiKeyView } from "../../../operations/api-keys/api-key-view.ts";
import { createApiKey } from "../../../operations/api-keys/create-api-key.ts";
import type { listApiKeys } from "../../../operations/api-keys/list-api-keys.ts";
import { builder } from "../builder.ts";
import type { ItemOf, OutputOf } from "./operation-output.ts";

export const ApiKey = builder.objectRef<ItemOf<typeof listApiKeys>>("ApiKey").implement({
  extensions: { view: ApiKeyView },
  fields: (t) => ({
    id: t.exposeID("id"),
    name: t.exposeString("name"),
    prefix: t.exposeString("prefix"),
    createdAt: t.expose("createdAt", { type: "DateTime" }),
    expiresAt: t.expose("expiresAt", { type: "DateTime", nullable: true }),
    lastUsedAt: t.expose("lastUsedAt", { type: "DateTime", nullable: true }),
  }),
});

export const NewApiKey = builder.objectRef<OutputOf<typeof createApiKey>>("NewApiKey").implement({
  description: "An API key that was just created, with the key itself.",
  extensions: { view: createApiKey.output },
  fields: (t) => ({
    id: t.exposeID("id"),
    name: t.exposeString("name"),
    prefix: t.exposeString("prefix"),
    key: t.exposeString("key"),
    createdAt: t.expose("createdAt", { type: "DateTime" }),
  }),
});
