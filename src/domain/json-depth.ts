const [QUOTE, BACKSLASH] = [0x22, 0x5c];

/**
 * Whether JSON nests deeper than `maxDepth`. Scans the bytes before anything is parsed, so that a hundred thousand
 * brackets cost only the scan.
 */
export function isDeeperThan(json: Uint8Array, maxDepth: number): boolean {
  let depth = 0;
  let isQuoted = false;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at] as number;
    if (isQuoted) {
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) isQuoted = false;
    } else if (byte === QUOTE) {
      isQuoted = true;
    } else if ((byte | 0x20) === 0x7b) {
      // [ and { differ in one bit, as do ] and }.
      depth += 1;
      if (depth > maxDepth) return true;
    } else if ((byte | 0x20) === 0x7d) {
      depth -= 1;
    }
  }
  return false;
}
