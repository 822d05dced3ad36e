import type { Offer } from "./offer.ts";

/** A part of an invoice. Amounts are in the currency's smallest unit, and a credit is negative. */
export type ChargeLine = {
  offer: Offer;
  seats: number;
  /** Before the discount. */
  subtotal: number;
  discount: number;
  startSeconds: number;
  endSeconds: number;
  /** For the rest of a period in which something changed. */
  isProration: boolean;
};

/** An invoice that is not merely a period's price. */
export type Charge = {
  /** Its number among the subscription's invoices for changes; `null`: a period's invoice. */
  number: number | null;
  lines: readonly ChargeLine[];
  /** The customer's credit from earlier invoices. */
  creditBefore: number;
  creditAfter: number;
};
