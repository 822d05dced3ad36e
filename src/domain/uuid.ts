const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Comes before every other id (RFC 9562, section 5.9). */
export const NIL_UUID = "00000000-0000-0000-0000-000000000000";

/** Any version, in PostgreSQL's format; other text must not reach a query. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
