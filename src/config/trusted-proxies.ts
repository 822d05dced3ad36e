import { isIP } from "node:net";
import { z } from "zod";
import type { TrustedProxies } from "../http/client-address.ts";

/** A count of hops, or addresses and ranges of them. */
export const trustedProxies = z.string().transform((text, context): TrustedProxies => {
  if (/^\d{1,2}$/.test(text)) return { hops: Number(text) };
  const ranges = text.split(",").map((range) => range.trim());
  for (const range of ranges) {
    if (isRange(range)) continue;
    context.addIssue({
      code: "custom",
      message: "expected a hop count or CIDRs, e.g. 1 or 10.0.0.0/8,fd00::/8",
    });
    return z.NEVER;
  }
  return { ranges };
});

/** Whether any proxy is trusted: then one is in front of the server. */
export function trustsProxies(trusted: TrustedProxies): boolean {
  return !("hops" in trusted) || trusted.hops > 0;
}

/** An address or a CIDR. */
export function isRange(text: string): boolean {
  const [address = "", prefix, more] = text.split("/");
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] as number;
  if (more !== undefined || bits < 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits);
}
