import { versionNumber } from "../../domain/api-version.ts";

/** One page of a list, as operations return it. */
export type ListPage<Item> = {
  /** The name of the items in v1, e.g. `users`. */
  plural: string;
  items: readonly Item[];
  /** `null` on the last page. */
  nextCursor: string | null;
};

export function toVersion<Item>(version: string, { plural, items, nextCursor }: ListPage<Item>) {
  return { [itemsName(version, plural)]: items, nextCursor };
}

/** Since v2 every list has its items under `data`. */
export function itemsName(version: string, plural: string): string {
  return versionNumber(version) >= 2 ? "data" : plural;
}
