import { z } from "zod";
import { ROLES } from "../../domain/callers/caller.ts";
import { LOCALES } from "../../domain/locale.ts";
import { Preferences } from "../../domain/users/preferences.ts";

/** A user, wherever one is shown to themselves or to an administrator. */
export const UserView = z
  .object({
    id: z.string().describe("The user's id."),
    name: z.string().describe("The user's name."),
    email: z.string().describe("The user's email address."),
    emailVerified: z.boolean().describe("Whether the email address is confirmed."),
    role: z.enum(ROLES).describe("`admin` may use the routes for administrators."),
    locale: z.enum(LOCALES).describe("The language of pages and mail."),
    preferences: Preferences.describe("The user's preferences."),
    onboarded: z.boolean().describe("Whether onboarding is complete."),
    createdAt: z.date().describe("When the account was created."),
    updatedAt: z.date().describe("When the account last changed."),
  })
  .meta({ id: "User", description: "A user account." });
