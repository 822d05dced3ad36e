import type { ConnectedProvider } from "./connected-provider.ts";
import { textAt, unpromised, valueAt } from "./response-fields.ts";

/** A page of a list, how many items were asked for, and the path of the field that says whether there are more. */
type Page = { items: readonly unknown[]; size: number; field: readonly string[] };

/**
 * Whether a list goes on behind a page. If nothing says so, it ends with a page that is not full.
 * @throws PaymentApiProblem when nothing says so of a full page
 */
export function hasMore(provider: ConnectedProvider, response: unknown, page: Page): boolean {
  const flag = valueAt(response, ...page.field);
  if (typeof flag === "boolean") return flag;
  assertShort(provider, page);
  return false;
}

/**
 * The same where the field says how many pages there are.
 * @param number of this page, from 1
 */
export function hasFurtherPages(
  provider: ConnectedProvider,
  response: unknown,
  { number, ...page }: Page & { number: number },
): boolean {
  const count = textAt(response, ...page.field);
  if (count !== null && /^\d{1,9}$/.test(count)) return number < Number(count);
  assertShort(provider, page);
  return false;
}

function assertShort(provider: ConnectedProvider, { items, size, field }: Page): void {
  if (items.length >= size) unpromised(provider, field);
}
