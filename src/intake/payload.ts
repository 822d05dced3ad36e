import { isUtf8 } from "node:buffer";
import { isDeeperThan } from "../domain/json-depth.ts";
import { InvalidPayload } from "../domain/payload-problems.ts";

const MAX_DEPTH = 100;

/**
 * Decodes and parses a verified body.
 * @throws InvalidPayload when it is not UTF-8, not JSON, or nested deeper than 100
 */
export function parsePayload(rawBody: Buffer): { text: string; body: unknown } {
  if (!isUtf8(rawBody)) throw new InvalidPayload("not UTF-8");
  if (isDeeperThan(rawBody, MAX_DEPTH)) throw new InvalidPayload(`nested deeper than ${MAX_DEPTH}`);
  const text = rawBody.toString("utf8");
  return { text, body: parseJson(text) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new InvalidPayload("not JSON");
  }
}
