import { hash } from "node:crypto";

/** The same UUID for the same name, in the form of a version 4. */
export function uuid(name: string): string {
  const hex = hash("sha256", name, "hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
