import { isUtf8 } from "node:buffer";
import { InvalidPayload } from "../domain/payload-problems.ts";

const MAX_DEPTH = 100;

/**
 * The text of a verified body, and what it says.
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

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const [OPEN_OBJECT, OPEN_LIST, CLOSE_OBJECT, CLOSE_LIST] = [0x7b, 0x5b, 0x7d, 0x5d];

/** Counted over the bytes, before anything is parsed: a hundred thousand brackets cost a scan and nothing more. */
function isDeeperThan(json: Buffer, maxDepth: number): boolean {
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at];
    if (quoted) {
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) quoted = false;
    } else if (byte === QUOTE) {
      quoted = true;
    } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      depth += 1;
      if (depth > maxDepth) return true;
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      depth -= 1;
    }
  }
  return false;
}
