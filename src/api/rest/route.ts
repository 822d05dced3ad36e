import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { z } from "zod";
import type { Dependencies } from "../../operations/dependencies.ts";
import type { Operation } from "../../operations/operation.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** One operation as a REST route. */
export type Route = {
  method: Method;
  /** The path below `/api`, in Hono's syntax: `/users/:id`. */
  path: string;
  operation: Operation<Dependencies>;
  status: ContentfulStatusCode;
  /** For a list: v1's name of what v2 calls `data`. */
  plural: string | null;
  /** Whether answers have an `ETag`, and a repeated request with `If-None-Match` gets 304. */
  etag: boolean;
};

type Offered<Input extends z.ZodType, Output extends z.ZodType> = Operation<Dependencies, Input, Output>;

export function route<Input extends z.ZodType, Output extends z.ZodType>(
  method: Method,
  path: string,
  operation: Offered<Input, Output>,
  { status = 200, plural = null, etag = false }: Partial<Pick<Route, "status" | "plural" | "etag">> = {},
): Route {
  return { method, path, operation, status, plural, etag };
}
