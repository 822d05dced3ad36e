import { createServiceKey } from "../../../operations/service-keys/create-service-key.ts";
import type { listServiceKeys } from "../../../operations/service-keys/list-service-keys.ts";
import { rotateServiceKey } from "../../../operations/service-keys/rotate-service-key.ts";
import { ServiceKeyView } from "../../../operations/service-keys/service-key-view.ts";
import { builder } from "../builder.ts";
import type { ItemOf, OutputOf } from "./operation-output.ts";

export const ServiceKey = builder.objectRef<ItemOf<typeof listServiceKeys>>("ServiceKey").implement({
  extensions: { view: ServiceKeyView },
  fields: (t) => ({
    id: t.exposeID("id"),
    name: t.exposeString("name"),
    prefix: t.exposeString("prefix"),
    permissions: t.exposeStringList("permissions"),
    limit: t.exposeString("limit"),
    createdAt: t.expose("createdAt", { type: "DateTime" }),
    expiresAt: t.expose("expiresAt", { type: "DateTime", nullable: true }),
    lastUsedAt: t.expose("lastUsedAt", { type: "DateTime", nullable: true }),
    previousValidUntil: t.expose("previousValidUntil", { type: "DateTime", nullable: true }),
  }),
});

export const NewServiceKey = builder.objectRef<OutputOf<typeof createServiceKey>>("NewServiceKey").implement({
  description: "A service key that was just created.",
  extensions: { view: createServiceKey.output },
  fields: (t) => ({
    id: t.exposeID("id"),
    name: t.exposeString("name"),
    prefix: t.exposeString("prefix"),
    key: t.exposeString("key"),
    permissions: t.exposeStringList("permissions"),
    limit: t.exposeString("limit"),
    expiresAt: t.expose("expiresAt", { type: "DateTime", nullable: true }),
  }),
});

export const RotatedServiceKey = builder
  .objectRef<OutputOf<typeof rotateServiceKey>>("RotatedServiceKey")
  .implement({
    description: "A service key that was just rotated, with its new secret.",
    extensions: { view: rotateServiceKey.output },
    fields: (t) => ({
      id: t.exposeID("id"),
      name: t.exposeString("name"),
      prefix: t.exposeString("prefix"),
      key: t.exposeString("key"),
      permissions: t.exposeStringList("permissions"),
      limit: t.exposeString("limit"),
      expiresAt: t.expose("expiresAt", { type: "DateTime", nullable: true }),
      previousValidUntil: t.expose("previousValidUntil", { type: "DateTime" }),
    }),
  });
