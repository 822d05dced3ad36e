import { createHmac, randomBytes } from "node:crypto";

const PREFIX = "whsec_";

/** A signing secret as Standard Webhooks writes it. */
export function newEndpointSecret(): string {
  return PREFIX + randomBytes(32).toString("base64");
}

/** The headers of Standard Webhooks, with one signature per secret: receivers accept any that matches. */
export function signedHeaders(
  body: string,
  { id, timestampSeconds, secrets }: { id: string; timestampSeconds: number; secrets: readonly string[] },
): Record<string, string> {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), "base64");
    const mac = createHmac("sha256", key).update(`${id}.${timestampSeconds}.${body}`).digest("base64");
    return `v1,${mac}`;
  });
  return {
    "webhook-id": id,
    "webhook-timestamp": String(timestampSeconds),
    "webhook-signature": signatures.join(" "),
  };
}
