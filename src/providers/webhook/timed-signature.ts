import type { SignatureProblem, SignedRequest, SignOptions, VerifyOptions } from "../adapter.ts";
import {
  decodeHexMac,
  MAX_HEADER_CHARACTERS,
  MAX_HEADER_PARTS,
  macOf,
  signatureProblem,
  timestampProblem,
} from "./signature.ts";

/** One header with a timestamp and signatures as `name=value` parts, as Stripe and Paddle send. */
export type TimedLayout = {
  header: string;
  separator: string;
  timeName: string;
  signatureName: string;
  /** The separator between timestamp and body in the signed bytes. */
  joint: string;
};

export function verifyTimed(
  layout: TimedLayout,
  request: SignedRequest,
  options: VerifyOptions,
): SignatureProblem | null {
  const header = request.header(layout.header);
  if (!header) return "header missing";
  const parts = readHeader(layout, header);
  if (parts === null) return "header malformed";
  return (
    timestampProblem(parts.timestamp, options) ??
    signatureProblem(parts.signatures, options.secrets, parts.timestamp + layout.joint, request.rawBody)
  );
}

export function signTimed(
  layout: TimedLayout,
  rawBody: Buffer,
  options: SignOptions,
): Record<string, string> {
  const timestamp = String(Math.floor(options.nowSeconds));
  const signature = macOf(options.secret, timestamp + layout.joint, rawBody).toString("hex");
  return {
    [layout.header]: `${layout.timeName}=${timestamp}${layout.separator}${layout.signatureName}=${signature}`,
  };
}

type HeaderParts = { timestamp: string; signatures: Buffer[] };

function readHeader(layout: TimedLayout, header: string): HeaderParts | null {
  if (header.length > MAX_HEADER_CHARACTERS) return null;
  const parts = header.split(layout.separator, MAX_HEADER_PARTS + 1);
  if (parts.length > MAX_HEADER_PARTS) return null;
  let timestamp: string | null = null;
  const signatures: Buffer[] = [];
  for (const part of parts) {
    const equals = part.indexOf("=");
    if (equals < 0) continue;
    const name = part.slice(0, equals).trim();
    const value = part.slice(equals + 1).trim();
    if (name === layout.timeName) {
      // With two different timestamps it is ambiguous which one was signed.
      if (timestamp !== null && timestamp !== value) return null;
      timestamp = value;
    } else if (name === layout.signatureName) {
      const signature = decodeHexMac(value);
      if (signature !== null) signatures.push(signature);
    }
  }
  return timestamp === null ? null : { timestamp, signatures };
}
