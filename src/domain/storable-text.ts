import { z } from "zod";
import { format } from "./invalid-input.ts";

/** Text without a NUL character, which PostgreSQL does not store. */
export const StorableText = z.string().regex(/^[^\0]*$/, format("control_characters"));
