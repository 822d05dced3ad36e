import type { Adapter, WireFormat } from "./adapter.ts";
import { lemonSqueezy } from "./lemon-squeezy.ts";
import { paddle } from "./paddle.ts";
import { polar } from "./polar.ts";
import { stripe } from "./stripe.ts";

export const ADAPTERS: Record<WireFormat, Adapter> = {
  stripe,
  paddle,
  polar,
  "lemon-squeezy": lemonSqueezy,
};
