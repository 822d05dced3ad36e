import type { DiscountRule } from "./discount.ts";

type Redeemable = {
  maxRedemptions: number | null;
  timesRedeemed: number;
  /** When it can first be redeemed; absent or `null`: at once. */
  startsAtSeconds?: number | null;
  expiresAtSeconds: number | null;
  createdAtSeconds: number;
  /** The seller's own. */
  data: Readonly<Record<string, unknown>>;
};

/** What reduces prices, as the seller defines it. */
export type Coupon = DiscountRule &
  Redeemable & {
    currency: string | null;
    isDeleted: boolean;
    /** What customers enter, where a coupon has one code. */
    code?: string | null;
    /** The prices that it reduces; absent or `null`: all. */
    priceIds?: readonly string[] | null;
  };

/** A code for customers to enter, where a coupon can have several. */
export type PromotionCode = Redeemable & {
  id: string;
  code: string;
  couponId: string;
  isActive: boolean;
  /** The only customer who may enter it; `null`: anybody. */
  customerId: string | null;
};

/** A coupon that a purchase has used. */
export type Redemption = {
  couponId: string;
  subscriptionId: string;
  /** What it took off the first price. */
  amount: number;
  atSeconds: number;
};
