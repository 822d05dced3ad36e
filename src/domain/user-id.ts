import { z } from "zod";
import { format } from "./invalid-input.ts";

export const UserId = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[^\0]*$/, format("control_characters"));

export function isUserId(text: string): boolean {
  return UserId.safeParse(text).success;
}
