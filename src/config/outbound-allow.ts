import { z } from "zod";
import { isRange } from "./trusted-proxies.ts";

/** Hosts, with or without a port, addresses, and CIDR ranges. */
export type OutboundAllowList = { hosts: readonly string[]; ranges: readonly string[] };

const HOST = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d{1,5})?$/i;

export const outboundAllow = z.string().transform((text, context): OutboundAllowList => {
  const items = text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
  const ranges = items.filter(isRange);
  const hosts = items.filter((item) => !isRange(item)).map((item) => item.toLowerCase());
  if (items.length > 0 && hosts.every((host) => HOST.test(host))) return { hosts, ranges };
  context.addIssue({
    code: "custom",
    message: "expected hosts or CIDRs, e.g. hooks.internal,10.0.0.0/8",
  });
  return z.NEVER;
});
