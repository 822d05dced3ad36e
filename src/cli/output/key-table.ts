import type { z } from "zod";
import type { listAnyKeys } from "../../operations/api-keys/list-any-keys.ts";
import { printable, style, table } from "./table.ts";
import { day } from "./times.ts";

type ListedKey = z.input<typeof listAnyKeys.output>["items"][number];

export function keyTable(keys: readonly ListedKey[], now: Date): string {
  if (keys.length === 0) return "no API keys";
  return table(
    ["id", "owner", "name", "prefix", "created", "expires", "last used"],
    keys.map((key) => [
      key.id,
      key.email === null ? "service" : printable(key.email, 60),
      printable(key.name, 40),
      key.prefix,
      day(key.createdAt),
      expiry(key.expiresAt, now),
      key.lastUsedAt ? day(key.lastUsedAt) : "never",
    ]),
  );
}

function expiry(expiresAt: Date | null, now: Date): string {
  if (expiresAt === null) return "never";
  return expiresAt <= now ? style("red", "expired") : day(expiresAt);
}
