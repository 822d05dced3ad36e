type Price = {
  /** In the currency's smallest unit. */
  amount: number;
  /** ISO 4217. */
  currency: string;
};

/** Formatted for the language, equally on the server and in the browser; whole amounts without decimals. */
export function formatPrice(locale: string, { amount, currency }: Price): string {
  const format = new Intl.NumberFormat(locale, {
    style: "currency",
    currency,
    trailingZeroDisplay: "stripIfInteger",
  });
  const { maximumFractionDigits = 2 } = format.resolvedOptions();
  return format.format(amount / 10 ** maximumFractionDigits);
}
