/** To which a browser may be sent. */
export function isWebUrl(text: string): boolean {
  const { protocol } = URL.parse(text) ?? {};
  return protocol === "http:" || protocol === "https:";
}
