import { z } from "zod";
import { CONTROL_CHARACTERS } from "../control-characters.ts";
import { problem } from "../refusals/invalid-input.ts";

const CONTROL = new RegExp(`[${CONTROL_CHARACTERS}]`);
const TRIMMED = /^\S([\s\S]*\S)?$/;
/** One pattern of both rules, for documents: generators make nothing useful of several. */
const PATTERN = `^[^\\s${CONTROL_CHARACTERS}]([^${CONTROL_CHARACTERS}]*[^\\s${CONTROL_CHARACTERS}])?$`;

/** The id of a user in another system. */
export const ExternalId = z
  .string()
  .min(1)
  .max(255)
  .refine((id) => !CONTROL.test(id) && id.isWellFormed(), problem({ problem: "control_characters" }))
  // Whoever reads it could not tell it from the id without.
  .refine((id) => TRIMMED.test(id), problem({ problem: "malformed", format: "trimmed" }))
  .meta({ pattern: PATTERN });
