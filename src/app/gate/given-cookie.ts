type GivenCookie = {
  name: string;
  value: string;
  path: string;
  httpOnly: boolean;
  secure: boolean;
  sameSite: "lax" | "strict" | "none";
  /** In seconds; without it, until the browser is closed. */
  maxAge?: number;
};

/** A `Set-Cookie` of Better Auth's, as Next.js wants it: its value is encoded again. RFC 6265, section 4.1. */
export function givenCookie(text: string): GivenCookie {
  const [pair = "", ...attributes] = text.split(";").map((part) => part.trim());
  const given = new Map(
    attributes.map((one) => split(one)).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const [name, value] = split(pair);
  const maxAge = given.get("max-age");
  return {
    name,
    value: decodeURIComponent(value),
    path: given.get("path") ?? "/",
    httpOnly: given.has("httponly"),
    secure: given.has("secure"),
    sameSite: (given.get("samesite")?.toLowerCase() ?? "lax") as GivenCookie["sameSite"],
    ...(maxAge === undefined ? {} : { maxAge: Number(maxAge) }),
  };
}

function split(text: string): [string, string] {
  const at = text.indexOf("=");
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}
