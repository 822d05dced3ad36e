import { z } from "zod";
import { ROLES } from "../../domain/caller.ts";
import { LOCALES } from "../../domain/locale.ts";
import { Preferences } from "../../domain/preferences.ts";

/** A user, wherever one is shown to themselves or to an administrator. */
export const UserView = z
  .object({
    id: z.string(),
    name: z.string(),
    email: z.string(),
    emailVerified: z.boolean(),
    role: z.enum(ROLES),
    locale: z.enum(LOCALES),
    preferences: Preferences,
    onboarded: z.boolean(),
    createdAt: z.date(),
    updatedAt: z.date(),
  })
  .meta({ id: "User" });
