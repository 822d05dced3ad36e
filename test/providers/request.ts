import type { SignedRequest, VerifyOptions } from "../../src/providers/adapter.ts";

/** A delivery as the intake sees it, from headers with lower-case names. */
export function requestOf(rawBody: Buffer | string, headers: Record<string, string>): SignedRequest {
  return { rawBody: Buffer.from(rawBody), header: (name) => headers[name] };
}

export function verifying(
  secrets: string | readonly string[],
  nowSeconds: number,
  toleranceSeconds = 300,
): VerifyOptions {
  return { secrets: typeof secrets === "string" ? [secrets] : secrets, nowSeconds, toleranceSeconds };
}
