import { z } from "zod";

export const UserId = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[^\0]*$/, "must not contain NUL");
