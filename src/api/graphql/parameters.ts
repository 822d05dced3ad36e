import type { IncomingMessage } from "node:http";
import type { Context } from "hono";
import { z } from "zod";
import { refuse } from "../../domain/refusal.ts";
import type { HonoEnv } from "../../http/hono-env.ts";
import { inspectJson } from "../../http/inspect-json.ts";
import { readJson } from "../../http/read-json.ts";
import { inWords, sentenceOf } from "../../operations/invalid-input.ts";

const Parameters = z.strictObject({
  query: z.string(),
  operationName: z.string().nullish(),
  variables: z.record(z.string(), z.unknown()).nullish(),
  extensions: z.record(z.string(), z.unknown()).nullish(),
});

export type Parameters = { query: string; operationName?: string; variables?: Record<string, unknown> };

/** Of an address, in characters: what all servers and proxies in between let pass. */
const LONGEST_QUERY_STRING = 8_000;

/** What a POST asks for: one JSON object, never a list of them. @throws Refusal `invalid_input`, `too_large` */
export async function fromBody(incoming: IncomingMessage): Promise<Parameters> {
  return checked(await readJson(incoming));
}

/** What a GET asks for. Parameters that GraphQL does not know are left alone. @throws Refusal as above */
export function fromQueryString(c: Context<HonoEnv>): Parameters {
  const { url } = c.req;
  if (url.length - url.indexOf("?") > LONGEST_QUERY_STRING) {
    refuse(
      "too_large",
      `expected a query string of at most ${LONGEST_QUERY_STRING} characters: send it by POST`,
    );
  }
  const one = (name: string): string | undefined => {
    const [value, ...more] = c.req.queries(name) ?? [];
    if (more.length > 0) refuse("invalid_input", `${name}: given more than once`);
    return value || undefined;
  };
  const object = (name: string) => {
    const text = one(name);
    return text === undefined ? undefined : inspectJson(Buffer.from(text));
  };
  return checked({
    query: one("query"),
    operationName: one("operationName"),
    variables: object("variables"),
    extensions: object("extensions"),
  });
}

function checked(given: unknown): Parameters {
  const parsed = Parameters.safeParse(given, { error: inWords });
  if (!parsed.success) refuse("invalid_input", sentenceOf(parsed.error));
  const { query, operationName, variables } = parsed.data;
  return { query, ...(operationName ? { operationName } : {}), ...(variables ? { variables } : {}) };
}
