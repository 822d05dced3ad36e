import { z } from "zod";
import { problem } from "../refusals/invalid-input.ts";

const SHOWN = /[^\p{Z}\p{C}]/u;
/** Includes bidirectional control characters: a name must not reorder the text that follows it. */
const CONTROL = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/u;

/** For `maxlength`, which counts UTF-16 units: a code point has up to two. */
export const MAX_NAME_UNITS = 200;

/** Names of people and their things: 1 to 100 code points, at least one visible. */
export const PersonName = z
  .string()
  .trim()
  .refine(
    (name) => {
      const length = [...name].length;
      return length >= 1 && length <= 100 && SHOWN.test(name);
    },
    problem({ problem: "length_out_of_range", min: 1, max: 100 }),
  )
  .refine((name) => !CONTROL.test(name) && name.isWellFormed(), problem({ problem: "control_characters" }))
  .meta({ minLength: 1, maxLength: 100 });
