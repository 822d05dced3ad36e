import { z } from "zod";

const SHOWN = /[^\p{Z}\p{C}]/u;
/** Also what turns the direction of the text behind it: a name must not make the rest of a line say something else. */
const CONTROL = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/u;

/** What people call themselves, and what belongs to them: 1 to 100 characters (code points), at least one visible. */
export const PersonName = z
  .string("expected text")
  .trim()
  .refine((name) => {
    const length = [...name].length;
    return length >= 1 && length <= 100 && SHOWN.test(name);
  }, "expected 1 to 100 characters")
  .refine((name) => !CONTROL.test(name) && name.isWellFormed(), "expected text without control characters")
  .meta({ minLength: 1, maxLength: 100 });
