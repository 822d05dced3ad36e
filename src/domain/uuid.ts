const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Any version, in PostgreSQL's format; other text must not reach a query. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
