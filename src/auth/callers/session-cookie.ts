import { createHmac, createSecretKey, timingSafeEqual } from "node:crypto";

export type SessionCookies = {
  /** The session token in a `Cookie` header, if its signature is valid; else `null`. */
  token(header: string): string | null;
  /** Whether the session ends when the browser is closed (sign-in without "remember me"). */
  isSessionOnly(header: string): boolean;
  /** Identifies the sign-in that waits for its second factor; `null`: none. */
  pendingSignIn(header: string): string | null;
};

/**
 * Reads Better Auth's cookies as it does: HMAC-SHA256 in base64 after the last dot, the whole
 * percent-encoded.
 * @param names including the prefix, as in Better Auth's context
 */
export function sessionCookies(
  secret: string,
  names: { sessionToken: string; dontRemember: string; twoFactor: string },
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
    isSessionOnly: (header) => signedValue(header, names.dontRemember) !== null,
    pendingSignIn: (header) => signedValue(header, names.twoFactor),
  };
}

/** 32 bytes in base64. */
const SIGNATURE = /^[A-Za-z0-9+/]{43}=$/;

/** The first of several cookies with the same name counts, as in Better Auth. */
function cookieValue(header: string, name: string): string | null {
  let start = 0;
  while (start < header.length) {
    const semicolon = header.indexOf(";", start);
    const end = semicolon === -1 ? header.length : semicolon;
    const equals = header.indexOf("=", start);
    if (equals === -1) return null;
    if (equals < end && header.slice(start, equals).trim() === name) {
      return decodeCookie(header.slice(equals + 1, end).trim());
    }
    start = end + 1;
  }
  return null;
}

function decodeCookie(value: string): string {
  const bare = value.startsWith('"') ? value.slice(1, -1) : value;
  if (!bare.includes("%")) return bare;
  try {
    return decodeURIComponent(bare);
  } catch {
    return bare;
  }
}
