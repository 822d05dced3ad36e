/** Whether every `%` begins an escape, and all escapes together are UTF-8. */
export function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
