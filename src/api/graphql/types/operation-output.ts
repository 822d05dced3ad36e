import type { z } from "zod";

export type OutputOf<Operation extends { output: z.ZodType }> = z.input<Operation["output"]>;

/** One item of an operation's page. */
export type ItemOf<Operation extends { output: z.ZodType<unknown, { items: unknown[] }> }> =
  OutputOf<Operation>["items"][number];
