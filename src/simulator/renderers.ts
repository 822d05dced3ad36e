import type { WireFormat } from "../providers/adapter.ts";
import { lemonSqueezy } from "./formats/lemon-squeezy.ts";
import { paddle } from "./formats/paddle.ts";
import { polar } from "./formats/polar.ts";
import type { Renderer } from "./formats/renderer.ts";
import { stripe } from "./formats/stripe.ts";

export const RENDERERS: Record<WireFormat, Renderer> = {
  stripe,
  paddle,
  polar,
  "lemon-squeezy": lemonSqueezy,
};
