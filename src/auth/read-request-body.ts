import type { RequestBody } from "./request-bodies.ts";

/** Why a body was rejected. */
export type BadBody = { status: 400 | 415; error: string };

const JSON_TYPE = /^application\/json\s*(;|$)/i;

/** Parses the fields of a JSON body that a route accepts. JSON only: no form of another site can send it. */
export async function readRequestBody(
  request: Request,
  schema: RequestBody,
): Promise<{ body: Record<string, unknown> } | BadBody> {
  if (!JSON_TYPE.test(request.headers.get("content-type") ?? "")) {
    return { status: 415, error: "Content-Type: expected application/json" };
  }
  let given: unknown;
  try {
    given = JSON.parse(await request.text());
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { status: 400, error: "expected JSON" };
  }
  return parseBody(given, schema);
}

export function parseBody(given: unknown, schema: RequestBody): { body: Record<string, unknown> } | BadBody {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    return { status: 400, error: "expected an object" };
  }
  const parsed = schema.safeParse(given);
  if (parsed.success) return { body: parsed.data };
  const [issue] = parsed.error.issues;
  return { status: 400, error: `${issue?.path.join(".")}: ${issue?.message}` };
}
