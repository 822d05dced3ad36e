import { z } from "zod";

/** User preferences; a closed object. */
export const Preferences = z.strictObject({
  theme: z.enum(["system", "light", "dark"]),
  emailNotifications: z.boolean(),
});

export type Preferences = z.output<typeof Preferences>;
