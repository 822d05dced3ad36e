/** What cannot be read cannot be redacted either, and must not keep anybody from deleting an account. */
export function emptyIfUnreadable<Item>(read: () => Item[]): Item[] {
  try {
    return read();
  } catch {
    return [];
  }
}
