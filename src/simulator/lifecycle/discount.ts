import { intervalsAfter } from "./calendar.ts";

/** What the seller defines: a coupon at Stripe, a discount elsewhere. */
export type DiscountRule = {
  /** The provider's id of it. */
  id: string;
  name: string | null;
  /** One of the two. `amountOff` is in the currency's smallest unit. */
  percentOff: number | null;
  amountOff: number | null;
  /** How many months it lasts; `null`: for ever, 0: for one payment. */
  months: number | null;
};

/** What reduces the price of a subscription. */
export type Discount = DiscountRule & {
  /** The code that the customer entered; `null`: none. */
  promotionCodeId: string | null;
  startsAtSeconds: number;
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

/** The discount from a time on. @param firstPaymentSeconds a trial puts it off */
export function discountFrom(
  { id, name, percentOff, amountOff, months }: DiscountRule,
  promotionCodeId: string | null,
  { startsAtSeconds, firstPaymentSeconds = startsAtSeconds }: DiscountStart,
): Discount {
  const rule = { id, name, percentOff, amountOff, months };
  return {
    ...rule,
    promotionCodeId,
    startsAtSeconds,
    endsAtSeconds: months === 0 ? firstPaymentSeconds + 1 : endOf(startsAtSeconds, months),
  };
}

type DiscountStart = { startsAtSeconds: number; firstPaymentSeconds?: number };

function endOf(startsAtSeconds: number, months: number | null): number | null {
  return months === null ? null : intervalsAfter(startsAtSeconds, months, "month");
}
