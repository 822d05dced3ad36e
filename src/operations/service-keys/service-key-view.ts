import { z } from "zod";
import { PERMISSIONS } from "../../domain/permission.ts";

export const ServiceKeyId = z.uuid();

const PROPERTIES = {
  id: ServiceKeyId,
  name: z.string(),
  prefix: z.string().describe("The beginning of the newest secret, to tell keys apart."),
  permissions: z.array(z.enum(PERMISSIONS)),
  limit: z.string().describe("Requests per seconds: `600/60`."),
  expiresAt: z.date().nullable(),
};

export const ServiceKeyView = z
  .object({
    ...PROPERTIES,
    createdAt: z.date(),
    lastUsedAt: z.date().nullable(),
    previousValidUntil: z
      .date()
      .nullable()
      .describe("After a rotation, until when the previous secret is valid."),
  })
  .meta({ id: "ServiceKey" });

/** Shown once, when a key is created or rotated. */
export const NewServiceKeyView = z.object({
  ...PROPERTIES,
  key: z.string().describe("Not stored: it cannot be shown again."),
});

export function limitText({ limit, windowSeconds }: { limit: number; windowSeconds: number }): string {
  return `${limit}/${windowSeconds}`;
}
