import { randomUUID } from "node:crypto";
import type { Config } from "../config/config.ts";
import type { Slot } from "../domain/slot.ts";
import type { WireFormat } from "../providers/adapter.ts";
import { ADAPTERS } from "../providers/registry.ts";
import { explainNoResponse, remedyOfUnavailable } from "./check-address.ts";
import { broken, type Finding, good, skipped, warning } from "./finding.ts";
import { probe } from "./probe.ts";

/**
 * Sends a signed event without effects through the public address, as the provider would. It appears in the
 * delivery log.
 */
export async function checkWebhook(
  config: Config,
  slot: Slot,
  { secrets, isUsed }: { secrets: readonly string[]; isUsed: boolean },
): Promise<Finding> {
  const { secretVariable, format } = config.slots[slot];
  const check = `${slot} webhook`;
  const [secret] = secrets;
  if (secret === undefined) {
    const remedy = `Set ${secretVariable} to the signing secret that the provider shows at its endpoint.`;
    return isUsed
      ? broken(check, `${secretVariable} is not set: every delivery is refused`, remedy)
      : skipped(check, "no secret: the slot is not used");
  }
  const url = `${config.appUrl}/api/webhooks/${slot}`;
  const { rawBody, headers } = signedTest(format, secret);
  const response = await probe(url, { method: "POST", headers, body: rawBody });
  if ("problem" in response) {
    const remedy = "Start the server; check APP_URL and the proxy in front of it.";
    return broken(check, ...explainNoResponse(url, response, remedy));
  }
  const { status, text, location } = response;
  if (status === 200 && /"ignored":true/.test(text)) {
    const rotation = secrets.length > 1 ? ` (the first of ${secrets.length} secrets)` : "";
    return good(check, `a signed test event was accepted${rotation}`);
  }
  if (status === 200) {
    return warning(check, `${url} responds, but is not Tollgate`, "Check APP_URL.");
  }
  return broken(check, `${url} returned ${status}`, remedyOf(status, { secretVariable, location, text }));
}

function remedyOf(
  status: number,
  { secretVariable, location, text }: { secretVariable: string; location: string | null; text: string },
) {
  if (status === 400) {
    return `The server has another secret, or its clock is wrong: restart it with this ${secretVariable}, and the same adapter. A proxy must not change the body.`;
  }
  if (status >= 300 && status < 400) {
    return `It redirects${location ? ` to ${location}` : ""}, which providers do not follow: set APP_URL to the final address.`;
  }
  if (status === 503) return remedyOfUnavailable(text);
  return "A proxy or firewall responds instead: let POST requests through unchanged.";
}

/** An event of a type that no provider has, worded as the slot's provider would. */
function signedTest(
  format: WireFormat,
  secret: string,
): { rawBody: Buffer; headers: Record<string, string> } {
  const eventId = `evt_doctor_${randomUUID()}`;
  const now = new Date();
  const eventType = "tollgate.doctor";
  const adapter = ADAPTERS.of(format);
  const body = adapter.traits.inertEvent({ eventId, eventType, at: now });
  const rawBody = Buffer.from(JSON.stringify(body));
  const nowSeconds = Math.floor(now.getTime() / 1000);
  const signature = adapter.sign(rawBody, { secret, nowSeconds, eventId, eventType });
  const headers = {
    "content-type": "application/json",
    "content-length": String(rawBody.length),
    ...signature,
  };
  return { rawBody, headers };
}
