import type { z } from "zod";

/** A route below `/api/auth`, as the document of the API describes it. */
export type DocumentedAuthRoute = {
  method: "GET" | "POST";
  /** Below `/api/auth`, in OpenAPI's syntax: `/reset-password/{token}`. */
  path: string;
  operationId: string;
  summary: string;
  description: string;
  /** The limit that a request is charged to. */
  scope: string;
  session: "required" | "optional" | "none";
  pathParams: z.ZodObject | null;
  query: z.ZodObject | null;
  body: z.ZodType | null;
  /** `redirect`: 302 to a page. */
  output: z.ZodType | "redirect" | { orRedirect: z.ZodType };
  /** The codes of its errors by status. */
  codes: ReadonlyMap<number, readonly string[]>;
};
