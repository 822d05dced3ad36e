/** Our pages have a dozen, and links of campaigns add some. */
const MAX_PARAMETERS = 100;

/**
 * Whether a page's address has more parameters than Next.js can be given: it looks all of them up again for each,
 * several times.
 */
export function hasTooManyParameters(url: string): boolean {
  let parameters = 0;
  for (let at = url.indexOf("?"); at !== -1; at = url.indexOf("&", at + 1)) {
    parameters += 1;
    if (parameters > MAX_PARAMETERS) return true;
  }
  return false;
}
