import { z } from "zod";

/** User preferences; a closed object. */
export const Preferences = z.strictObject({
  theme: z.enum(["system", "light", "dark"]).describe("The colors of the pages."),
  emailNotifications: z.boolean().describe("Whether notifications are also sent by email."),
});

export type Preferences = z.output<typeof Preferences>;
