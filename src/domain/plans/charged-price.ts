/**
 * The price, if it may be shown to whoever pays it; `null`: it is charged in another currency, in which only payments
 * show its amount.
 * @param chargedCurrency of the latest payment; `null`: none yet
 */
export function priceIfChargedIn<Price extends { currency: string }>(
  price: Price | null,
  chargedCurrency: string | null,
): Price | null {
  return chargedCurrency === null || chargedCurrency === price?.currency ? price : null;
}
