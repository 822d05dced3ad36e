import type { Random } from "./random.ts";

const CHARACTERS = [
  ..."0189afgAZ=,;:.+-_ /v1th\t\0\r\n\x7f\xa0\xe9\xff",
  "\u0141",
  "\u2028",
  "\ud800",
  "\u{1f600}",
  "\ufeff",
];

// Spellings of 1772366400 that some parsers read as the same number.
export const HOSTILE_TIME_STAMPS = [
  "1772366400",
  "01772366400",
  "000001772366400",
  "0000001772366400",
  "+1772366400",
  "1772366400.0",
  "1772366400.",
  "1.7723664e9",
  "17723664e2",
  "0x69a42bc0",
  "0b1101001101001000010101111000000",
  "1772366400n",
  "1_772_366_400",
  "\u0661\u0667\u0667\u0662\u0663\u0666\u0666\u0664\u0660\u0660",
  "1772366400\0",
  "1772366400,1772366400",
  "1772366400 1772366400",
  "",
  "0",
  "-1",
  "+1",
  "1e9",
  "1.5",
  "NaN",
  "Infinity",
  "0x10",
  "9".repeat(15),
  "9".repeat(16),
  "9".repeat(3000),
  "18446744073709551616",
];

/** One small or large change to a header's value; now and then one that changes nothing of what it says. */
export function mutateText(random: Random, text: string, other: string): string {
  const at = random.below(text.length + 1);
  const to = Math.min(text.length, at + 1 + random.below(12));
  const part = text.slice(at, to);
  switch (random.below(14)) {
    case 0:
      return text.slice(0, at) + random.pick(CHARACTERS) + text.slice(at);
    case 1:
      return text.slice(0, at) + text.slice(to);
    case 2:
      return (
        text.slice(0, at) +
        String.fromCharCode(text.charCodeAt(at) ^ (1 << random.below(9))) +
        text.slice(at + 1)
      );
    case 3:
      return text.slice(0, at);
    case 4:
      return text.slice(0, at) + other.slice(random.below(other.length + 1));
    case 5:
      return text.slice(0, at) + part + part + text.slice(to);
    case 6:
      return text + random.pick([",", ";", " ", ", "]) + random.pick([text, other]);
    case 7:
      return text.replace(/\d{9,}/, random.pick(HOSTILE_TIME_STAMPS));
    case 8:
      return rearranged(random, text);
    case 9:
      return random.pick([text.toUpperCase(), ` ${text} `, text.replaceAll(/([,;])/g, " $1 ")]);
    case 10:
      return text.replace(/(v1|h1)([=,])/, random.pick(["v0$2", "$1$1$2", "$2", "$1"]));
    case 11:
      return random.pick([
        `${text},v1=00`,
        `${text};h1=zz`,
        `${text} v1,AAAA`,
        `v0=,${text}`,
        `;;${text}`,
        `=,${text}`,
      ]);
    case 12:
      return repeated(random, text);
    default:
      return random.pick(["", " ", other, "\0", "é", text.repeat(50)]);
  }
}

function rearranged(random: Random, text: string): string {
  const separator = random.pick([",", ";", " "]);
  const parts = text.split(separator);
  return (random.oneIn(2) ? parts.reverse() : [...parts, random.pick(parts)]).join(separator);
}

// Wrong signatures before and after the right one, up to and beyond the comparison limit.
function repeated(random: Random, text: string): string {
  const zeros = random.pick([`,v1=${"0".repeat(64)}`, `;h1=${"0".repeat(64)}`, ` v1,${"A".repeat(43)}=`]);
  const [head = "", ...tail] = text.split(zeros.charAt(0));
  return [head, ...tail].join(zeros.repeat(1 + random.below(20)) + zeros.charAt(0));
}

/** Bits flipped, bytes cut out, added, or taken from another body. */
export function mutateBytes(random: Random, bytes: Buffer, other: Buffer): Buffer {
  const at = random.below(bytes.length + 1);
  switch (random.below(6)) {
    case 0:
      return bytes.subarray(0, at);
    case 1:
      return Buffer.concat([bytes.subarray(0, at), other.subarray(random.below(other.length + 1))]);
    case 2:
      return Buffer.concat([bytes.subarray(0, at), Buffer.from(random.pick(CHARACTERS)), bytes.subarray(at)]);
    case 3:
      return random.pick([
        other,
        Buffer.alloc(0),
        Buffer.concat([bytes, bytes]),
        Buffer.concat([bytes, Buffer.from("\n")]),
      ]);
    default: {
      const flipped = Buffer.from(bytes);
      for (let flips = 1 + random.below(3); flips > 0 && flipped.length > 0; flips -= 1) {
        const index = random.below(flipped.length);
        flipped.writeUInt8(flipped.readUInt8(index) ^ (1 << random.below(8)), index);
      }
      return flipped;
    }
  }
}
