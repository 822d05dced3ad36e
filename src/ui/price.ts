import { formatMoney, type Money } from "../domain/payments/money.ts";

/** Whole amounts without decimals. */
export function formatPrice(locale: string, price: Money): string {
  return formatMoney(locale, price, { style: "currency", trailingZeroDisplay: "stripIfInteger" });
}
