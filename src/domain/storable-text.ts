import { z } from "zod";
import { format } from "./refusals/invalid-input.ts";

/** Not `\0`, which is an error in the regular expressions of other languages. */
const WITHOUT_NUL = String.raw`^[^\x00]*$`;

/** Text without a NUL character, which PostgreSQL does not store. */
export const StorableText = z.string().regex(new RegExp(WITHOUT_NUL), format("control_characters"));
