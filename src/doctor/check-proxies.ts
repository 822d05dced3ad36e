import type { Config } from "../config/config.ts";
import { isLoopback } from "../config/loopback.ts";
import { trustsProxies } from "../config/trusted-proxies.ts";
import { type Finding, good, warning } from "./finding.ts";

/**
 * Whether limits can tell clients apart: the server itself speaks plain HTTP, so that https means a proxy
 * before it.
 */
export function checkProxies({ appUrl, trustedProxies }: Config): Finding {
  if (trustsProxies(trustedProxies)) return good("proxies", "TRUSTED_PROXIES is set");
  if (isLoopback(appUrl) || !appUrl.startsWith("https://")) return good("proxies", "none is trusted");
  return warning(
    "proxies",
    "APP_URL is https, which a proxy serves, and TRUSTED_PROXIES is not set: limits count all clients as one",
    "Set TRUSTED_PROXIES to the number of proxies before the server, e.g. 1, or to their addresses.",
  );
}
