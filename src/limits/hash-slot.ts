const SLOTS = 16_384;
const POLYNOMIAL = 0x1021;

/** The hash slot of a key without braces, as Redis Cluster assigns it: CRC-16/XMODEM of its bytes. */
export function hashSlot(key: string): number {
  let crc = 0;
  for (const byte of Buffer.from(key)) {
    crc = ((crc << 8) & 0xffff) ^ (TABLE[(crc >>> 8) ^ byte] as number);
  }
  return crc % SLOTS;
}

const TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit += 1) crc = (crc << 1) ^ (crc & 0x8000 ? POLYNOMIAL : 0);
  return crc & 0xffff;
});
