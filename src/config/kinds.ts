import { accessSync, constants } from "node:fs";
import { validateHeaderName, validateHeaderValue } from "node:http";
import { isIPv6 } from "node:net";
import parseAddresses from "nodemailer/lib/addressparser";
import { z } from "zod";
import { isDecodable } from "../http/is-decodable.ts";
import { editDistance } from "./edit-distance.ts";

/** Schemas of variables. Errors contain an example and never the value, which may be a secret. */
export const wholeNumber = (min: number, max: number, example: number) =>
  z
    .string()
    .regex(/^(?!-0)-?\d+$/, `expected a whole number, e.g. ${example}`)
    .transform(Number)
    .refine((n) => n >= min && n <= max, `expected a number from ${min} to ${max}, e.g. ${example}`);

export const share = z
  .string()
  .refine((text) => /^\d*\.?\d+$/.test(text) && Number(text) <= 1, "expected a number from 0 to 1, e.g. 0.1")
  .transform(Number);

/** To listen on, without a zone: a colon is part of an IPv6 address alone, and what ends with a number is an IPv4 address. */
export const host = z
  .string()
  .refine(
    (text) =>
      (isIPv6(text) && !text.includes("%")) ||
      (/^\w[\w-]*(\.\w[\w-]*)*$/.test(text) && URL.canParse(`http://${text}`)),
    "expected a host name or address without a port, e.g. 127.0.0.1",
  );

/** Scheme, host and port only: a path would break links and comparisons. */
export const origin = z
  .string()
  .refine(isOrigin, "expected an origin without a path, such as https://app.example.com")
  .transform((text) => new URL(text).origin);

/** Comma-separated; no wildcards. */
export const origins = z
  .string()
  .transform((text) => text.split(",").map((item) => item.trim()))
  .refine(
    (list) => list.every(isOrigin),
    "expected origins without paths and with commas between them, such as https://app.example.com,http://localhost:5173",
  )
  .transform((list) => [...new Set(list.map((item) => new URL(item).origin))]);

function isOrigin(text: string): boolean {
  const parsed = URL.parse(text);
  if (!parsed || !/^https?:$/.test(parsed.protocol) || parsed.username || parsed.password) return false;
  // Browsers never send a wildcard origin: it would silently match nothing.
  if (parsed.hostname.includes("*")) return false;
  return (
    `${parsed.pathname}${parsed.search}${parsed.hash}` === "/" && !text.includes("?") && !text.includes("#")
  );
}

/** As nodemailer reads it; it would silently ignore a path or a fragment behind the host. */
export const smtpUrl = z.string().refine((text) => {
  const isComplete = /^smtps?:\/\/[^/\\]/i.test(text);
  // An http URL has the parts of this one, but would take a backslash for a slash.
  const parsed = isComplete ? URL.parse(text.replace(/^smtp/i, "http").replaceAll("\\", "%5C")) : null;
  if (!parsed?.hostname) return false;
  // Anything else there is the rest of a password whose `/`, `#` or `?` was not encoded.
  return parsed.pathname === "/" && parsed.hash === "" && !parsed.search.includes("@");
}, "expected a URL such as smtps://user:password@smtp.example.com; in the password, write %25 for %, %23 for #, %2F for /, %3F for ?");

/**
 * Of one server, or of several with commas between them, as libpq reads it; `URL` knows a single host only. A
 * socket's folder is a parameter.
 */
const databaseAddress = z.string().refine((text) => {
  const [, before = "", named = "", after = ""] =
    /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^@/?#]*)(.*)$/s.exec(text) ?? [];
  const hosts = named === "" && /[?&]host=[^&]/.test(after) ? "localhost" : named;
  if (before === "" || !hosts.split(",").every((host) => URL.canParse(`${before}${host}${after}`)))
    return false;
  // What follows would be left out: it is the rest of a password.
  if (after.includes("#")) return false;
  // The driver takes a % that stands alone for itself, and throws only when it connects if the rest is not UTF-8.
  if (!isDecodable(before.replace(/%(?![0-9a-f]{2})/gi, "%25"))) return false;
  return /^(any|read-write|primary)?$/.test(/[?&]target_session_attrs=([^&]*)/.exec(after)?.[1] ?? "");
}, "expected a URL such as postgres://user:password@localhost:5432/tollgate, or with several hosts, one of them the primary: postgres://user:password@one:5432,two:5432/tollgate; in the password, write %25 for %, %23 for #, %40 for @, %2F for /");

/** Used for each connection: what is wrong would look like a database that is down. */
export const databaseUrl = databaseAddress.superRefine((text, context) => {
  const parameters = new URLSearchParams(/\?.*$/s.exec(text)?.[0]);
  const port = parameters.get("port") ?? "";
  if (!/^\d{0,5}$/.test(port) || Number(port) > MAX_PORT)
    context.addIssue({ code: "custom", message: "expected in port a number to 65535, e.g. port=5432" });
  for (const [name, value] of parameters) {
    if (!isTakenAsMeant(name, value)) context.addIssue({ code: "custom", message: SSL_MODE_EXPECTED });
  }
  for (const name of ["sslrootcert", "sslcert", "sslkey"]) {
    const file = parameters.get(name);
    if (file === null || file === SYSTEM_AUTHORITIES || isReadable(file)) continue;
    const message = `expected in ${name} a file that can be read, e.g. ${name}=/etc/ssl/database.pem`;
    context.addIssue({ code: "custom", message });
  }
});

const MAX_PORT = 65_535;

/** Those of libpq, and `no-verify` of the driver. */
const SSL_MODES: ReadonlySet<string> = new Set([
  ...["disable", "allow", "prefer", "require", "verify-ca", "verify-full", "no-verify"],
]);

/** The driver's own parameter; with another value it throws once the server agrees to TLS. */
const SSL_VALUES: ReadonlySet<string> = new Set(["true", "1", "0", "no-verify"]);

/** The driver ignores an empty value and a misspelt name: it would connect without encryption. */
function isTakenAsMeant(name: string, value: string): boolean {
  if (name === "sslmode") return SSL_MODES.has(value);
  if (name === "ssl") return SSL_VALUES.has(value);
  const isMisspelt = editDistance(name.toLowerCase(), "sslmode") <= 2;
  return !isMisspelt && !/^(?:use[-_]?)?(?:ssl|tls)(?:[-_]?mod.*)?$/i.test(name);
}

const SSL_MODE_EXPECTED =
  "expected sslmode, written like this, with disable, require or verify-full, e.g. sslmode=verify-full";

/** As `sslrootcert` of libpq. */
const SYSTEM_AUTHORITIES = "system";

function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/** The base of an API: paths are appended to it. */
export const baseUrl = (example: string) =>
  z
    .string()
    .refine((text) => {
      const parsed = URL.parse(text);
      if (!parsed || !/^https?:$/.test(parsed.protocol) || parsed.username || parsed.password) return false;
      return !text.includes("?") && !text.includes("#");
    }, `expected a URL such as ${example}`)
    .transform((text) => text.replace(/\/+$/, ""));

export const oneOf = <const Options extends readonly [string, ...string[]]>(options: Options) =>
  z.enum(options, `expected one of ${options.join(", ")}, e.g. ${options[0]}`);

/** `key=value` pairs separated by commas, with percent-encoded values, as in OpenTelemetry's variables. */
export const keyValues = (example: string) =>
  z
    .string()
    .refine(
      (text) =>
        isDecodable(text) &&
        text.split(",").every((pair) => /^\s*[^\s=%]+\s*=(?:[^\s%]|%[0-9a-f]{2}|\s)*$/i.test(pair)),
      `expected key=value, several with commas between them, e.g. ${example}`,
    )
    .transform((text) =>
      Object.fromEntries(
        text.split(",").map((pair) => {
          const [key = "", ...value] = pair.split("=");
          return [key.trim(), decodeURIComponent(value.join("=").trim())];
        }),
      ),
    );

/** Sent with each export of traces, which is lost if Node refuses to send them. */
export const headers = keyValues("x-api-key=secret").refine((pairs) => {
  try {
    for (const [name, value] of Object.entries(pairs)) {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    }
    return true;
  } catch {
    return false;
  }
}, "expected names and values that HTTP headers may have, e.g. x-api-key=secret");

/** One or several, comma-separated; white space around a secret is removed. */
export const secrets = z
  .string()
  .transform((text) => text.split(",").map((secret) => secret.trim()))
  .refine((list) => list.every((secret) => secret !== ""), {
    error: "has an empty secret between commas, e.g. whsec_new,whsec_old",
  });

/** Sent in a header, so only visible ASCII is allowed. */
export const apiKey = z
  .string()
  .regex(/^[\x21-\x7e]+$/, "expected one key without white space, e.g. sk_test_ and what follows");

/** One sender with or without a name: read as it is when a mail is sent. */
export const sender = z.string().refine((text) => {
  if (!/^[^\r\n]{1,320}$/.test(text)) return false;
  const [parsed, ...others] = parseAddresses(text);
  const address = parsed !== undefined && "address" in parsed ? (parsed.address ?? "") : "";
  return others.length === 0 && /^[^\s@]+@[^\s@]+$/.test(address);
}, "expected one address on one line, e.g. Tollgate <no-reply@example.com>");

/** Compared with a header, in which other characters arrive changed. */
export const bearerToken = z
  .string()
  .regex(
    /^[\x20-\x7e]{16,}$/,
    "expected at least 16 ASCII characters, e.g. the output of: openssl rand -hex 24",
  );

/** One node, or several of one cluster. */
export const redisUrls = z
  .string()
  .transform((text) => text.split(",").map((item) => item.trim()))
  .refine(
    (urls) => urls.every(isRedisUrl),
    "expected a URL such as redis://localhost:6379 or redis://:password@localhost:6379/0, or several of one cluster with commas between them; in the password, write %25 for %, %23 for #, %2F for /",
  )
  .refine(
    (urls) => !urls.some(asksForEncryption),
    "expected rediss: for TLS, not a parameter, e.g. rediss://:password@localhost:6379",
  );

/** The client ignores parameters: it would connect without encryption. */
function asksForEncryption(text: string): boolean {
  const parsed = URL.parse(text);
  const asks = ([name, value]: [string, string]) =>
    /ssl|tls/i.test(name) && !DECLINES.has(value.toLowerCase());
  return parsed?.protocol === "redis:" && [...parsed.searchParams].some(asks);
}

const DECLINES: ReadonlySet<string> = new Set(["false", "0", "no", "off", "none"]);

/** Whether the client can read it: it throws only when it connects. */
function isRedisUrl(text: string): boolean {
  const parsed = /^rediss?:\/\/./.test(text) ? URL.parse(text) : null;
  // Without a host the client would connect to this machine. What follows # is the rest of a password.
  if (!parsed?.hostname || parsed.hash !== "") return false;
  return /^(?:\/\d*)?$/.test(parsed.pathname) && [parsed.username, parsed.password].every(isDecodable);
}
