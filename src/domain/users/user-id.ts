import { StorableText } from "../storable-text.ts";

export const UserId = StorableText.min(1).max(255);

export function isUserId(text: string): boolean {
  return UserId.safeParse(text).success;
}
