import { COMMON_HEADERS } from "./components.ts";
import type { JsonSchema } from "./schemas.ts";

/** A JSON response to a request that is not counted. */
export function jsonResponse(description: string, schema: JsonSchema): JsonSchema {
  return {
    description,
    headers: COMMON_HEADERS,
    content: { "application/json": { schema } },
  };
}
