import { z } from "zod";

/** In lower case, without blanks around it; 254 characters are what mail can be sent to (RFC 5321). */
export const EmailAddress = z
  .string()
  .trim()
  .toLowerCase()
  .max(254)
  .pipe(z.email())
  .meta({ format: "email" });
