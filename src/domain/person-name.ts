import { z } from "zod";

const SHOWN = /[^\p{Z}\p{C}]/u;
const CONTROL = /\p{Cc}/u;

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
