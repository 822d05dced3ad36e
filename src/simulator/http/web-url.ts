/** A URL that a browser may be redirected to. */
export function isWebUrl(text: string): boolean {
  const { protocol } = URL.parse(text) ?? {};
  return protocol === "http:" || protocol === "https:";
}
