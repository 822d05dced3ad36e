import { versionNumber } from "../../domain/api-version.ts";

/** One page of a list, as the operations answer it. */
export type ListPage<Item> = {
  /** What the items are called in v1, e.g. `users`. */
  plural: string;
  items: readonly Item[];
  /** `null` at the end. */
  nextCursor: string | null;
};

/** All that differs between the versions: from v2 on, every list keeps its items under `data`. */
export function toVersion<Item>(version: string, { plural, items, nextCursor }: ListPage<Item>) {
  return versionNumber(version) >= 2 ? { data: items, nextCursor } : { [plural]: items, nextCursor };
}
