/**
 * Longer than browsers send. Next.js searches it for crawlers in a time that grows with the square of its length:
 * one of 14 KB keeps the whole process busy for seconds.
 */
const MAX_LENGTH = 500;

/** What is stored of a client's name for itself, and passed to Next.js. */
export function shortUserAgent(userAgent: string | null | undefined): string | undefined {
  return userAgent?.slice(0, MAX_LENGTH);
}
