import type { createServiceKey } from "../../../operations/service-keys/create-service-key.ts";
import type { listServiceKeys } from "../../../operations/service-keys/list-service-keys.ts";
import type { rotateServiceKey } from "../../../operations/service-keys/rotate-service-key.ts";
import { builder } from "../builder.ts";
import type { ItemOf, OutputOf } from "./operation-output.ts";

const PREFIX = "The beginning of the newest secret, to tell keys apart.";
const PERMISSIONS = "As on the other surfaces, such as `entitlements:read`.";
const LIMIT = "Requests per seconds: `600/60`.";
const KEY = "Not stored: it cannot be shown again.";

export const ServiceKey = builder.objectRef<ItemOf<typeof listServiceKeys>>("ServiceKey").implement({
  description: "A key for another program, which acts for the users that it names.",
  fields: (t) => ({
    id: t.exposeID("id"),
    name: t.exposeString("name"),
    prefix: t.exposeString("prefix", { description: PREFIX }),
    permissions: t.exposeStringList("permissions", { description: PERMISSIONS }),
    limit: t.exposeString("limit", { description: LIMIT }),
    createdAt: t.expose("createdAt", { type: "DateTime" }),
    expiresAt: t.expose("expiresAt", { type: "DateTime", nullable: true }),
    lastUsedAt: t.expose("lastUsedAt", { type: "DateTime", nullable: true }),
    previousValidUntil: t.expose("previousValidUntil", {
      type: "DateTime",
      nullable: true,
      description: "After a rotation, until when the previous secret is valid.",
    }),
  }),
});

export const NewServiceKey = builder.objectRef<OutputOf<typeof createServiceKey>>("NewServiceKey").implement({
  description: "A service key that was just created.",
  fields: (t) => ({
    id: t.exposeID("id"),
    name: t.exposeString("name"),
    prefix: t.exposeString("prefix", { description: PREFIX }),
    key: t.exposeString("key", { description: KEY }),
    permissions: t.exposeStringList("permissions", { description: PERMISSIONS }),
    limit: t.exposeString("limit", { description: LIMIT }),
    expiresAt: t.expose("expiresAt", { type: "DateTime", nullable: true }),
  }),
});

export const RotatedServiceKey = builder
  .objectRef<OutputOf<typeof rotateServiceKey>>("RotatedServiceKey")
  .implement({
    description: "A service key with the secret that it was just given.",
    fields: (t) => ({
      id: t.exposeID("id"),
      name: t.exposeString("name"),
      prefix: t.exposeString("prefix", { description: PREFIX }),
      key: t.exposeString("key", { description: KEY }),
      permissions: t.exposeStringList("permissions", { description: PERMISSIONS }),
      limit: t.exposeString("limit", { description: LIMIT }),
      expiresAt: t.expose("expiresAt", { type: "DateTime", nullable: true }),
      previousValidUntil: t.expose("previousValidUntil", {
        type: "DateTime",
        description: "Until when the previous secret is valid.",
      }),
    }),
  });
