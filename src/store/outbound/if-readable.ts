/** What cannot be read cannot be redacted either, and must not keep everybody from deleting an account. */
export function ifReadable<Item>(read: () => Item[]): Item[] {
  try {
    return read();
  } catch {
    return [];
  }
}
