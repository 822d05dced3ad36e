import { z } from "zod";
import { PERMISSIONS } from "../../domain/callers/permission.ts";

export const ServiceKeyId = z.uuid().describe("The key's id.");

const PROPERTIES = {
  id: ServiceKeyId,
  name: z.string().describe("A name, such as the program that uses it."),
  prefix: z.string().describe("The beginning of the newest secret, to tell keys apart."),
  permissions: z.array(z.enum(PERMISSIONS)).describe("What it may do, such as `entitlements:read`."),
  limit: z.string().describe("Its rate limit, as requests/seconds, such as `600/60`."),
  expiresAt: z.date().nullable().describe("When it expires; `null`: never."),
};

export const ServiceKeyView = z
  .object({
    ...PROPERTIES,
    createdAt: z.date().describe("When it was created."),
    lastUsedAt: z.date().nullable().describe("When it was last used; `null`: never."),
    previousValidUntil: z
      .date()
      .nullable()
      .describe("After a rotation, until when the previous secret is valid."),
  })
  .meta({
    id: "ServiceKey",
    description: "A key for another program, which acts for the users that it names.",
  });

/** Shown once, when a key is created or rotated. */
export const NewServiceKeyView = z.object({
  ...PROPERTIES,
  key: z.string().describe("The key itself. Not stored: it cannot be shown again."),
});
