import { isUtf8 } from "node:buffer";
import { InvalidPayload } from "../domain/deliveries/payload-problems.ts";
import { isDeeperThan } from "../domain/json-depth.ts";

const MAX_DEPTH = 100;

/**
 * Parses a verified body.
 * @throws InvalidPayload when it is not UTF-8, not JSON, or nested deeper than 100
 */
export function parsePayload(rawBody: Buffer): unknown {
  if (!isUtf8(rawBody)) throw new InvalidPayload("not UTF-8");
  if (isDeeperThan(rawBody, MAX_DEPTH)) throw new InvalidPayload(`nested deeper than ${MAX_DEPTH}`);
  return parseJson(rawBody.toString("utf8"));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new InvalidPayload("not JSON");
  }
}
