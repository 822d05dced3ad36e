/** RFC 3339 in UTC with six fractional digits, as providers write it. */
export function rfc3339(unixSeconds: number): string {
  return new Date(Math.round(unixSeconds * 1000)).toISOString().replace("Z", "000Z");
}
