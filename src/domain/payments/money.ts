const ZERO_DECIMAL = new Set("BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF UYI VND VUV XAF XOF XPF".split(" "));
const THREE_DECIMAL = new Set("BHD IQD JOD KWD LYD OMR TND".split(" "));

/**
 * How many decimals a currency's smallest unit stands for, by ISO 4217 as providers count: none for MGA, two
 * for ISK and UGX (Stripe's special cases, docs.stripe.com/currencies). Not from `Intl`, whose decimals are
 * those that people write: none for HUF and IDR.
 */
export function minorUnitDigits(currency: string): number {
  if (ZERO_DECIMAL.has(currency)) return 0;
  return THREE_DECIMAL.has(currency) ? 3 : 2;
}

export type Money = {
  /** In the currency's smallest unit. */
  amount: number;
  /** ISO 4217. */
  currency: string;
};

/** Formatted for the language, the same on the server and in the browser. */
export function formatMoney(
  locale: string,
  { amount, currency }: Money,
  options: Pick<Intl.NumberFormatOptions, "style" | "trailingZeroDisplay">,
): string {
  const digits = minorUnitDigits(currency);
  const decimals = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return new Intl.NumberFormat(locale, { currency, ...decimals, ...options }).format(amount / 10 ** digits);
}
