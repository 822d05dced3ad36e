import { createHmac, timingSafeEqual } from "node:crypto";
import type { ProviderSlot } from "./provider-slot.ts";

export type PortalVisit = { customerId: string; returnUrl: string | null };

/** A signed link with an expiry by the machine's clock; nothing is stored. */
export function portalUrl(slot: ProviderSlot, visit: PortalVisit): string {
  const claims = { ...visit, untilMs: Date.now() + slot.traits.portalLifetimeSeconds * 1_000 };
  const text = Buffer.from(JSON.stringify(claims)).toString("base64url");
  return `${slot.url()}/portal/${text}.${macOf(slot, text).toString("base64url")}`;
}

/** `null`: invalid or expired. */
export function readPortalToken(slot: ProviderSlot, token: string): PortalVisit | null {
  const [text = "", mac = ""] = token.split(".");
  const presentedMac = Buffer.from(mac, "base64url");
  const expected = macOf(slot, text);
  if (presentedMac.length !== expected.length || !timingSafeEqual(presentedMac, expected)) return null;
  const claims = JSON.parse(Buffer.from(text, "base64url").toString()) as PortalVisit & { untilMs: number };
  return claims.untilMs > Date.now() ? claims : null;
}

function macOf({ state, name }: ProviderSlot, text: string): Buffer {
  return createHmac("sha256", state.portalKey).update(`${name} ${text}`).digest();
}
