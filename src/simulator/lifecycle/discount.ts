import { intervalsAfter } from "./calendar.ts";

/** What reduces the price of a subscription. */
export type Discount = {
  /** The provider's id of the coupon, or of the discount. */
  id: string;
  name: string | null;
  /** The code that the customer entered; `null`: none. */
  promotionCodeId: string | null;
  /** One of the two. `amountOff` is in the currency's smallest unit. */
  percentOff: number | null;
  amountOff: number | null;
  startsAtSeconds: number;
  /** `null`: never ends; a discount for one payment ends where its period does. */
  endsAtSeconds: number | null;
};

/** What it takes off an amount, in the currency's smallest unit. */
export function discountOf(discount: Discount | null, amount: number): number {
  if (discount === null) return 0;
  const { percentOff, amountOff } = discount;
  return Math.min(amount, percentOff === null ? (amountOff ?? 0) : Math.round((amount * percentOff) / 100));
}

/** The discount in a period that begins then. */
export function discountAt(discount: Discount | null, nowSeconds: number): Discount | null {
  const hasEnded =
    discount !== null && discount.endsAtSeconds !== null && discount.endsAtSeconds <= nowSeconds;
  return hasEnded ? null : discount;
}

/** What the seller defines: a coupon at Stripe, a discount elsewhere. */
export type DiscountRule = Pick<Discount, "id" | "name" | "percentOff" | "amountOff"> & {
  /** How many months it lasts; `null`: for ever, 0: for one payment. */
  months: number | null;
};

/** The rule as of the first payment, which a trial puts off. */
export function redeemed(
  { id, name, percentOff, amountOff, months }: DiscountRule,
  promotionCodeId: string | null,
  { startsAtSeconds, firstPaymentSeconds }: { startsAtSeconds: number; firstPaymentSeconds: number },
): Discount {
  const endsAtSeconds =
    months === null
      ? null
      : months === 0
        ? firstPaymentSeconds + 1
        : intervalsAfter(startsAtSeconds, months, "month");
  return { id, name, promotionCodeId, percentOff, amountOff, startsAtSeconds, endsAtSeconds };
}
