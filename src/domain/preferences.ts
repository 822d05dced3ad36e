import { z } from "zod";

/** What people choose for themselves; a closed object. */
export const Preferences = z.strictObject({
  theme: z.enum(["system", "light", "dark"]),
  emailNotifications: z.boolean(),
});

export type Preferences = z.output<typeof Preferences>;
