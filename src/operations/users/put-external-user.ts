import { randomUUID } from "node:crypto";
import { z } from "zod";
import { LOCALES } from "../../domain/locale.ts";
import { refuse } from "../../domain/refusals/refusal.ts";
import { EmailAddress } from "../../domain/users/email-address.ts";
import { ExternalId } from "../../domain/users/external-id.ts";
import { PersonName } from "../../domain/users/person-name.ts";
import type { Database } from "../../store/database.ts";
import { putExternalUser as put } from "../../store/users/external-users.ts";
import { defineOperation } from "../operation.ts";
import { UserView } from "./user-view.ts";

/**
 * Idempotent. An account is never found by its address, and an administrator or somebody with a password is
 * left as they are: they change their account themselves.
 */
export const putExternalUser = defineOperation({
  name: "users.putExternal",
  summary: "Creates or updates the user with this id in another system",
  access: "service",
  permission: "users:write",
  limit: "service-key",
  input: z.strictObject({
    externalId: ExternalId.describe("The user's id in the other system."),
    email: EmailAddress.describe("The user's email address."),
    name: PersonName.describe("The user's name."),
    locale: z
      .enum(LOCALES)
      .optional()
      .describe("The language of pages and mail; defaults to `en` for a new user."),
  }),
  reasons: ["email_taken"],
  output: UserView.extend({
    externalId: z.string().nullable().describe("The user's id in the other system."),
  }),
  run: async (deps: { database: Database }, caller, input) =>
    (await put(deps.database, { ...input, newId: randomUUID() }, caller)) ??
    refuse({ reason: "email_taken", field: "email" }),
});
