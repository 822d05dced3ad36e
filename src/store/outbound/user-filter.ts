const BITS_PER_USER = 20;
const HASHES = 8;
const MIN_BYTES = 8;

/**
 * A Bloom filter: it contains every one of these users, and one in some thousand others. Stored, so its bits
 * are fixed.
 */
export function filterOfUsers(userIds: ReadonlySet<string>): Buffer {
  const filter = Buffer.alloc(Math.max(MIN_BYTES, Math.ceil((userIds.size * BITS_PER_USER) / 8)));
  const bits = filter.length * 8;
  for (const userId of userIds) {
    const first = firstHash(userId);
    const step = stepOf(userId);
    for (let index = 0; index < HASHES; index += 1) {
      const bit = hashAt(first, step, index) % bits;
      filter[bit >> 3] = (filter[bit >> 3] as number) | (1 << (bit & 7));
    }
  }
  return filter;
}

/**
 * In a filter of n bits each hash stands for the bit of the hash modulo n, counted as PostgreSQL's `get_bit`
 * does.
 */
export function hashesOfUser(userId: string): number[] {
  const first = firstHash(userId);
  const step = stepOf(userId);
  return Array.from({ length: HASHES }, (_, index) => hashAt(first, step, index));
}

function firstHash(userId: string): number {
  return fnv1a(userId, 0x811c9dc5);
}

function stepOf(userId: string): number {
  return fnv1a(userId, 0x01000193) | 1;
}

function hashAt(first: number, step: number, index: number): number {
  return (first + Math.imul(index, step)) >>> 0;
}

function fnv1a(text: string, basis: number): number {
  let hash = basis;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  // Otherwise the low bits of the hash would depend only on the low bits of the text.
  return hash ^ (hash >>> 15);
}
