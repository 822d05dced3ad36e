import { z } from "zod";
import { format } from "./invalid-input.ts";

/** The id of a user in another system. */
export const ExternalId = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[^\p{Cc}\p{Cs}]*$/u, format("control_characters"))
  // Whoever reads it could not tell it from the id without.
  .regex(/^\S([\s\S]*\S)?$/, format("trimmed"));
