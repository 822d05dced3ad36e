import type { createApiKey } from "../../../operations/api-keys/create-api-key.ts";
import type { listApiKeys } from "../../../operations/api-keys/list-api-keys.ts";
import { builder } from "../builder.ts";
import type { ItemOf, OutputOf } from "./operation-output.ts";

export const ApiKey = builder.objectRef<ItemOf<typeof listApiKeys>>("ApiKey").implement({
  fields: (t) => ({
    id: t.exposeID("id"),
    name: t.exposeString("name"),
    prefix: t.exposeString("prefix", { description: "The beginning of the key, to tell keys apart." }),
    createdAt: t.expose("createdAt", { type: "DateTime" }),
    expiresAt: t.expose("expiresAt", { type: "DateTime", nullable: true }),
    lastUsedAt: t.expose("lastUsedAt", { type: "DateTime", nullable: true }),
  }),
});

export const NewApiKey = builder.objectRef<OutputOf<typeof createApiKey>>("NewApiKey").implement({
  fields: (t) => ({
    id: t.exposeID("id"),
    name: t.exposeString("name"),
    prefix: t.exposeString("prefix"),
    key: t.exposeString("key", { description: "Not stored: it cannot be shown again." }),
    createdAt: t.expose("createdAt", { type: "DateTime" }),
  }),
});
