import type { IncomingMessage } from "node:http";
import type { Context } from "hono";
import { z } from "zod";
import { invalidInput, whetherMissing } from "../../domain/refusals/invalid-input.ts";
import { refuse } from "../../domain/refusals/refusal.ts";
import type { HonoEnv } from "../../http/hono-env.ts";
import { inspectJson } from "../../http/inspect-json.ts";
import { readJson } from "../../http/read-json.ts";

const Parameters = z.strictObject({
  query: z.string(),
  operationName: z.string().nullish(),
  variables: z.record(z.string(), z.unknown()).nullish(),
  extensions: z.record(z.string(), z.unknown()).nullish(),
});

export type Parameters = { query: string; operationName?: string; variables?: Record<string, unknown> };

/** Maximum URL length in characters that all servers and proxies accept. */
const MAX_QUERY_STRING_CHARACTERS = 8_000;

/** Parses a POST body: one JSON object, no batches. @throws Refusal `invalid_input`, `too_large` */
export async function fromBody(incoming: IncomingMessage): Promise<Parameters | PersistedQuery> {
  return checked(await readJson(incoming));
}

/** Parses a GET request. Unknown parameters are ignored. @throws Refusal as above */
export function fromQueryString(c: Context<HonoEnv>): Parameters | PersistedQuery {
  const { url } = c.req;
  if (url.length - url.indexOf("?") > MAX_QUERY_STRING_CHARACTERS) {
    refuse({ reason: "query_too_long", params: { maxCharacters: MAX_QUERY_STRING_CHARACTERS } });
  }
  const singleQuery = (name: string): string | undefined => {
    const [value, ...more] = c.req.queries(name) ?? [];
    if (more.length > 0) refuse({ reason: "invalid_input", params: { problem: "repeated" }, field: name });
    return value || undefined;
  };
  const object = (name: string) => {
    const text = singleQuery(name);
    // As in a body, null is the same as nothing.
    return text === undefined || text === "null" ? undefined : inspectJson(Buffer.from(text), name);
  };
  return checked({
    query: singleQuery("query"),
    operationName: singleQuery("operationName"),
    variables: object("variables"),
    extensions: object("extensions"),
  });
}

/**
 * A query's hash in place of the query, as Apollo's clients send it first: they fall back when it is refused
 * as unsupported.
 */
export type PersistedQuery = "persisted query";

function isPersistedQuery(input: unknown): boolean {
  const { query, extensions } = input as { query?: unknown; extensions?: Record<string, unknown> };
  return query === undefined && typeof extensions === "object" && extensions?.persistedQuery !== undefined;
}

function checked(input: unknown): Parameters | PersistedQuery {
  if (isPersistedQuery(input)) return "persisted query";
  const parsed = Parameters.safeParse(input, { error: whetherMissing });
  if (!parsed.success) throw invalidInput(parsed.error);
  const { query, operationName, variables } = parsed.data;
  return { query, ...(operationName ? { operationName } : {}), ...(variables ? { variables } : {}) };
}
