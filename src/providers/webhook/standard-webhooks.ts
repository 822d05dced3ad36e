import type { SignatureProblem, SignedRequest, SignOptions, VerifyOptions } from "../adapter.ts";
import {
  decodeBase64Mac,
  MAX_HEADER_CHARACTERS,
  MAX_HEADER_PARTS,
  macOf,
  signatureProblem,
  timestampProblem,
} from "./signature.ts";

const SECRET_PREFIX = "whsec_";
const VERSION_PREFIX = "v1,";

/**
 * Checks the three headers of https://www.standardwebhooks.com, which Polar sends, under their own or Svix's
 * names.
 */
export function verifyStandardWebhook(
  request: SignedRequest,
  options: VerifyOptions,
): SignatureProblem | null {
  const { id, timestamp, signatures: header } = standardHeaders(request);
  if (!id || !timestamp || !header) return "header missing";
  if (!isVisibleAscii(id) || header.length > MAX_HEADER_CHARACTERS) return "header malformed";
  return (
    timestampProblem(timestamp, options) ??
    signatureProblem(
      readSignatures(header),
      options.secrets.flatMap(signingKeys),
      `${id}.${timestamp}.`,
      request.rawBody,
    )
  );
}

export function signStandardWebhook(rawBody: Buffer, options: SignOptions): Record<string, string> {
  const timestamp = String(Math.floor(options.nowSeconds));
  const [key = options.secret] = signingKeys(options.secret);
  const signature = macOf(key, `${options.eventId}.${timestamp}.`, rawBody).toString("base64");
  return {
    "webhook-id": options.eventId,
    "webhook-timestamp": timestamp,
    "webhook-signature": VERSION_PREFIX + signature,
  };
}

// Polar signed with the characters of the whole secret before 2026-09-08, and with the decoded key since.
function signingKeys(secret: string): (string | Buffer)[] {
  const decoded = secret.startsWith(SECRET_PREFIX) ? decodeKey(secret.slice(SECRET_PREFIX.length)) : null;
  return decoded === null ? [secret] : [decoded, secret];
}

// Node skips invalid base64. A key that lost characters would be easier to guess, or empty.
function decodeKey(base64: string): Buffer | null {
  const key = Buffer.from(base64, "base64");
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  const characters = base64.length - padding;
  const complete = characters % 4 !== 1 && key.length === Math.floor((characters * 3) / 4);
  return complete && key.length > 0 ? key : null;
}

/** Senders on Svix use other names for the same three headers: the complete set is used. */
export function standardHeaders({ header }: SignedRequest) {
  const headersWith = (prefix: string) => ({
    id: header(`${prefix}-id`),
    timestamp: header(`${prefix}-timestamp`),
    signatures: header(`${prefix}-signature`),
  });
  const standard = headersWith("webhook");
  const svix = headersWith("svix");
  return svix.id && svix.timestamp && svix.signatures && !standard.signatures ? svix : standard;
}

function readSignatures(header: string): Buffer[] {
  // Headers that were sent apart arrive joined by a comma and a space.
  const parts = header.split(/,? /, MAX_HEADER_PARTS + 1);
  if (parts.length > MAX_HEADER_PARTS) return [];
  return parts
    .filter((part) => part.startsWith(VERSION_PREFIX))
    .map((part) => decodeBase64Mac(part.slice(VERSION_PREFIX.length)))
    .filter((signature) => signature !== null);
}

// Header values arrive as Latin-1: outside ASCII the signed bytes are ambiguous.
function isVisibleAscii(id: string): boolean {
  if (id.length > MAX_HEADER_CHARACTERS) return false;
  for (let index = 0; index < id.length; index += 1) {
    const code = id.charCodeAt(index);
    if (code < 0x20 || code > 0x7e) return false;
  }
  return true;
}
