import { minorUnitDigits } from "../domain/payments/minor-units.ts";

type Price = {
  /** In the currency's smallest unit. */
  amount: number;
  /** ISO 4217. */
  currency: string;
};

/** Formatted for the language, equally on the server and in the browser; whole amounts without decimals. */
export function formatPrice(locale: string, { amount, currency }: Price): string {
  const digits = minorUnitDigits(currency);
  const format = new Intl.NumberFormat(locale, {
    style: "currency",
    currency,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
    trailingZeroDisplay: "stripIfInteger",
  });
  return format.format(amount / 10 ** digits);
}
