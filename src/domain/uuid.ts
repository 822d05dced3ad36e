const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Of any version, as PostgreSQL writes them; it must not be asked for others. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
