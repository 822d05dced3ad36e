const [QUOTE, BACKSLASH, BRACKET, BRACE] = [0x22, 0x5c, 0x5b, 0x7b];

/**
 * Whether JSON nests deeper than `maxDepth`. Scans the bytes before anything is parsed, so that a hundred
 * thousand brackets cost only the scan.
 */
export function isDeeperThan(json: Uint8Array, maxDepth: number): boolean {
  // Most payloads have fewer brackets in all; `indexOf` finds them many times faster than a loop.
  return countUpTo(json, maxDepth + 1) > maxDepth && isNestedDeeperThan(json, maxDepth);
}

/** How many brackets open, within strings too. */
function countUpTo(json: Uint8Array, limit: number): number {
  let count = 0;
  for (const opening of [BRACE, BRACKET]) {
    let at = json.indexOf(opening);
    for (; at !== -1 && count < limit; at = json.indexOf(opening, at + 1)) count += 1;
  }
  return count;
}

function isNestedDeeperThan(json: Uint8Array, maxDepth: number): boolean {
  let depth = 0;
  let isQuoted = false;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at] as number;
    if (isQuoted) {
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) isQuoted = false;
    } else if (byte === QUOTE) {
      isQuoted = true;
    } else if ((byte | 0x20) === BRACE) {
      // [ and { differ in one bit, as do ] and }.
      depth += 1;
      if (depth > maxDepth) return true;
    } else if ((byte | 0x20) === 0x7d) {
      depth -= 1;
    }
  }
  return false;
}
