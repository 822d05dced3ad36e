import { createHmac, timingSafeEqual } from "node:crypto";
import type { Shop } from "./shop.ts";

export type PortalVisit = { customerId: string; returnUrl: string | null };

const OPEN_FOR_MS = 24 * 3_600_000;

/** A link of 24 hours, as all the providers' are short-lived: nothing is kept of it. */
export function portalUrl(shop: Shop, visit: PortalVisit): string {
  const claims = { ...visit, untilMs: Date.now() + OPEN_FOR_MS };
  const text = Buffer.from(JSON.stringify(claims)).toString("base64url");
  return `${shop.url()}/portal/${text}.${macOf(shop, text).toString("base64url")}`;
}

/** `null`: not one of our links, or too old. */
export function readPortalToken(shop: Shop, token: string): PortalVisit | null {
  const [text = "", mac = ""] = token.split(".");
  const given = Buffer.from(mac, "base64url");
  const expected = macOf(shop, text);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
  const claims = JSON.parse(Buffer.from(text, "base64url").toString()) as PortalVisit & { untilMs: number };
  return claims.untilMs > Date.now() ? claims : null;
}

function macOf({ state, slot }: Shop, text: string): Buffer {
  return createHmac("sha256", state.portalKey).update(`${slot} ${text}`).digest();
}
