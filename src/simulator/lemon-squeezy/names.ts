import { hash } from "node:crypto";
import type { EventContext } from "../renderer.ts";

export function nameOf(context: EventContext): string {
  return context.checkout ? context.checkout.email : context.ids.userId;
}

/** The same 14 digits for the same name. */
export function numberOf(name: string): string {
  return String(10 ** 13 + (Number.parseInt(hash("sha256", name, "hex").slice(0, 11), 16) % (9 * 10 ** 13)));
}
