const WITHOUT = new Set("BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF UYI VND VUV XAF XOF XPF".split(" "));
const THOUSANDTHS = new Set("BHD IQD JOD KWD LYD OMR TND".split(" "));

/**
 * How many decimals a currency's smallest unit stands for, by ISO 4217, as providers count: ariary are whole
 * for them, and Stripe counts hundredths of krónur and Uganda's shillings (docs.stripe.com/currencies). Not
 * from `Intl`: that has the decimals that people write, none for forints and rupiah.
 */
export function minorUnitDigits(currency: string): number {
  if (WITHOUT.has(currency)) return 0;
  return THOUSANDTHS.has(currency) ? 3 : 2;
}
