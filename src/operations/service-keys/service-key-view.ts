import { z } from "zod";
import { PERMISSIONS } from "../../domain/permission.ts";

export const ServiceKeyId = z.uuid();

const FACTS = {
  id: ServiceKeyId,
  name: z.string(),
  prefix: z.string().describe("How the newest secret begins, to tell keys apart."),
  permissions: z.array(z.enum(PERMISSIONS)),
  limit: z.string().describe("Requests per so many seconds: `600/60`."),
  expiresAt: z.date().nullable(),
};

/** As it is shown once, when it is created or rotated. */
export const NewServiceKeyView = z.object({
  ...FACTS,
  key: z.string().describe("Not stored: it cannot be shown again."),
});

export function limitText({ limit, windowSeconds }: { limit: number; windowSeconds: number }): string {
  return `${limit}/${windowSeconds}`;
}
