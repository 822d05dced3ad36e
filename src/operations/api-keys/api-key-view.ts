import { z } from "zod";

export const ApiKeyId = z.uuid();

/** An API key, wherever it is shown; the key itself is shown once, when it is made. */
export const ApiKeyView = z
  .object({
    id: ApiKeyId,
    name: z.string(),
    prefix: z.string().describe("The beginning of the key, to tell keys apart."),
    createdAt: z.date(),
    expiresAt: z.date().nullable(),
    lastUsedAt: z.date().nullable(),
  })
  .meta({ id: "ApiKey" });
