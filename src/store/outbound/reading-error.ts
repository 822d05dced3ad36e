/** Why stored data could not be read: JSON's error quotes it, and PostgreSQL stores no NUL. */
export function readingError(error: unknown): string {
  return (error as Error).message.replaceAll("\0", "\\0");
}
