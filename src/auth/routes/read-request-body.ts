import { invalidInput, whetherMissing } from "../../domain/refusals/invalid-input.ts";
import { Refusal } from "../../domain/refusals/refusal.ts";
import { isJsonType } from "../../http/is-json-type.ts";
import type { RequestBody } from "./request-bodies.ts";
import { errorResponse, refusalResponse } from "./responses.ts";

type ParsedBody = { body: Record<string, unknown> };

/**
 * The fields that a route reads from a JSON body. Only JSON is accepted: forms of other sites cannot send it.
 * A refusal is wrapped, as `instanceof Response` fails: the HTTP server replaces that class when it is
 * loaded.
 */
export async function readRequestBody(
  request: Request,
  schema: RequestBody,
): Promise<ParsedBody | { refused: Response }> {
  if (!isJsonType(request.headers.get("content-type") ?? "")) {
    const error = "Content-Type: expected application/json";
    return { refused: errorResponse(415, error, "UNSUPPORTED_MEDIA_TYPE") };
  }
  let body: unknown;
  try {
    body = JSON.parse(await request.text());
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { refused: refusalResponse(unreadable("JSON")) };
  }
  const parsed = parseBody(body, schema);
  return parsed instanceof Refusal ? { refused: refusalResponse(parsed) } : parsed;
}

export function parseBody(body: unknown, schema: RequestBody): ParsedBody | Refusal {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return unreadable("a JSON object");
  const parsed = schema.safeParse(body, { error: whetherMissing });
  return parsed.success ? { body: parsed.data } : invalidInput(parsed.error);
}

function unreadable(expected: string): Refusal {
  return new Refusal({ reason: "invalid_input", params: { problem: "unreadable_body", expected } });
}
