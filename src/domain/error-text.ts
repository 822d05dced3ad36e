/** What an error says. Where several addresses of a name have failed at once, it has a code and no message. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message || (error as { code?: string }).code || error.name;
}
