import { money } from "../pages/format.ts";

/** Amounts as in a document: as they are, in US dollars at the rate of 1, and as text. */
export function amounts(amountsByName: Readonly<Record<string, number>>, currency: string): object {
  return Object.fromEntries(
    Object.entries(amountsByName).flatMap(([name, amount]) => [
      [name, amount],
      [`${name}_usd`, amount],
      [`${name}_formatted`, money(amount, currency)],
    ]),
  );
}
