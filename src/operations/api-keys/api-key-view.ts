import { z } from "zod";

export const ApiKeyId = z.uuid().describe("The key's id.");

/** An API key, wherever it is shown; the key itself is shown once, when it is made. */
export const ApiKeyView = z
  .object({
    id: ApiKeyId,
    name: z.string().describe("A name to recognize it by."),
    prefix: z.string().describe("The beginning of the key, to tell keys apart."),
    createdAt: z.date().describe("When it was created."),
    expiresAt: z.date().nullable().describe("When it expires; `null`: never."),
    lastUsedAt: z.date().nullable().describe("When it was last used; `null`: never."),
  })
  .meta({ id: "ApiKey", description: "An API key; the key itself is shown once, when it is created." });
