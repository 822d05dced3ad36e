/**
 * Whether a `Content-Type` says JSON in UTF-8, the only encoding that JSON has between systems (RFC 8259,
 * section 8.1). Parameters other than `charset` are ignored.
 */
export function isJsonType(type = ""): boolean {
  if (type === "application/json") return true;
  const [name = ""] = type.split(";", 1);
  if (name.trim().toLowerCase() !== "application/json") return false;
  const charsets = [...type.matchAll(CHARSET)].map(([, quoted, token]) => quoted ?? token ?? "");
  return charsets.every((charset) => /^utf-?8$/i.test(charset.trim()));
}

const CHARSET = /;\s*charset\s*=\s*(?:"([^"]*)"?|([^;]*))/gi;
