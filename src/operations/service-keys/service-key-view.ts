import { z } from "zod";
import { PERMISSIONS } from "../../domain/permission.ts";
import type { ListedServiceKey } from "../../store/service-keys.ts";

export const ServiceKeyId = z.uuid();

const FACTS = {
  id: ServiceKeyId,
  name: z.string(),
  prefix: z.string().describe("How the newest secret begins, to tell keys apart."),
  permissions: z.array(z.enum(PERMISSIONS)),
  limit: z.string().describe("Requests per so many seconds: `600/60`."),
  expiresAt: z.date().nullable(),
};

export const ServiceKeyView = z
  .object({
    ...FACTS,
    createdAt: z.date(),
    lastUsedAt: z.date().nullable(),
    previousValidUntil: z
      .date()
      .nullable()
      .describe("Until when the secret before the last rotation is valid; `null`: it is not."),
  })
  .meta({ id: "ServiceKey" });

/** As it is shown once, when it is created or rotated. */
export const NewServiceKeyView = z.object({
  ...FACTS,
  key: z.string().describe("Not stored: it cannot be shown again."),
});

export function limitText({ limit, windowSeconds }: { limit: number; windowSeconds: number }): string {
  return `${limit}/${windowSeconds}`;
}

export function serviceKeyView({
  limit,
  windowSeconds,
  ...key
}: ListedServiceKey): z.input<typeof ServiceKeyView> {
  return { ...key, limit: limitText({ limit, windowSeconds }) };
}
