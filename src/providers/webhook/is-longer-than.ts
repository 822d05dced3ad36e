/** Characters outside the Basic Multilingual Plane are two UTF-16 units each. */
export function isLongerThan(text: string, characters: number): boolean {
  if (text.length <= characters) return false;
  return text.length > 2 * characters || [...text].length > characters;
}
