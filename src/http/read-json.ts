import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { inspectJson } from "./inspect-json.ts";
import { isJsonType } from "./is-json-type.ts";
import { readBodyOrRefuse } from "./read-body.ts";
import { refuseBody } from "./refuse-body.ts";

/** Far more than any input needs, and small enough for a hundred at once. */
const MAX_BYTES = 64 * 1024;

/**
 * Parses a request's JSON object; an empty body is an empty object. Rejects ambiguous input: invalid UTF-8,
 * duplicate fields, prototype keys.
 * @throws Refusal `invalid_input`, `too_large`
 */
export async function readJson(
  incoming: IncomingMessage,
  maxBytes: number = MAX_BYTES,
  options?: { inspectsText: boolean },
): Promise<Record<string, unknown>> {
  const body = await readBodyOrRefuse(incoming, maxBytes);
  if (body.length === 0) return {};
  assertJson(incoming);
  if (!isUtf8(body)) refuseBody("a JSON body in UTF-8");
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf)
    refuseBody("a JSON body without a byte order mark");
  return inspectJson(body, null, options);
}

function assertJson({ headers }: IncomingMessage): void {
  if (!isJsonType(headers["content-type"]))
    refuseBody("a JSON body: send it with Content-Type: application/json");
  const coding = headers["content-encoding"];
  if (coding !== undefined && coding.toLowerCase() !== "identity")
    refuseBody("an uncompressed body: send it without Content-Encoding");
}
