import { createHmac, createSecretKey, timingSafeEqual } from "node:crypto";

export type SessionCookies = {
  /** The session's token, out of a `Cookie` header in which it stands with a signature of ours; else `null`. */
  token(header: string): string | null;
  /** Whether the browser was told to keep the session only until it is closed. */
  isForgotten(header: string): boolean;
};

/**
 * Reads Better Auth's cookies exactly as it does: HMAC-SHA256 in base64 behind the last dot, the whole percent-encoded.
 * @param names as Better Auth has them in its context, `__Secure-` included
 */
export function sessionCookies(
  secret: string,
  names: { sessionToken: string; dontRemember: string },
): SessionCookies {
  const key = createSecretKey(secret, "utf8");

  const signedValue = (header: string, name: string): string | null => {
    const value = cookieValue(header, name);
    const dot = value?.lastIndexOf(".") ?? -1;
    if (value === null || dot < 1) return null;
    const signature = value.slice(dot + 1);
    if (!SIGNATURE.test(signature)) return null;
    const signed = value.slice(0, dot);
    const expected = createHmac("sha256", key).update(signed).digest();
    return timingSafeEqual(expected, Buffer.from(signature, "base64")) ? signed : null;
  };

  return {
    token: (header) => signedValue(header, names.sessionToken),
    isForgotten: (header) => signedValue(header, names.dontRemember) !== null,
  };
}

/** 32 bytes in base64. */
const SIGNATURE = /^[A-Za-z0-9+/]{43}=$/;

/** Of several with one name the first counts, as for Better Auth. */
function cookieValue(header: string, name: string): string | null {
  let start = 0;
  while (start < header.length) {
    const semicolon = header.indexOf(";", start);
    const end = semicolon === -1 ? header.length : semicolon;
    const equals = header.indexOf("=", start);
    if (equals === -1) return null;
    if (equals < end && header.slice(start, equals).trim() === name) {
      return decoded(header.slice(equals + 1, end).trim());
    }
    start = end + 1;
  }
  return null;
}

function decoded(value: string): string {
  const bare = value.startsWith('"') ? value.slice(1, -1) : value;
  if (!bare.includes("%")) return bare;
  try {
    return decodeURIComponent(bare);
  } catch {
    return bare;
  }
}
